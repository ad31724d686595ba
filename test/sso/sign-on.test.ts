import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Overloaded } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import type { AccountMatcher } from '../../src/features/sso/account-matcher.ts'
import { SsoFailures } from '../../src/features/sso/failures.ts'
import type { ProviderPolicy, VerifiedIdentity } from '../../src/features/sso/identity-provider.ts'
import { LoginFlows } from '../../src/features/sso/login-flows.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { SignOn } from '../../src/features/sso/sign-on.ts'
import type { Audit } from '../../src/accounts/audit.ts'
import type { IdentifiedUser, SignIn } from '../../src/accounts/sign-in.ts'
import type { Sessions } from '../../src/accounts/sessions.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'

const client = { address: '192.0.2.1', userAgent: '' }
const provider = { name: 'a', provisions: true, domains: [], maxAge: undefined }
const target = { successUrl: 'https://ok.example/', failureUrl: 'https://failed.example/' }

function setUp(t: { after(work: () => Promise<void>): void }) {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system)
  t.after(() => store.close())
  const flows = new LoginFlows(store, system)
  const failures = new SsoFailures({ system, log: createLog('silent') })
  const recorded: unknown[] = []
  const audit = { record: async (entry: unknown) => void recorded.push(entry) } as Pick<Audit, 'record'> as Audit
  const accounts = { match: async () => ({ id: '7', name: 'anna' }) } as unknown as AccountMatcher
  const sessions = {} as unknown as Sessions
  const begun: Array<boolean | undefined> = []
  const signIn = {
    begin: async ({ provesFactor }: IdentifiedUser) => {
      begun.push(provesFactor)
      return { session: { token: 't' } }
    },
  } as unknown as SignIn
  const signOn = new SignOn({ flows, accounts, sessions, signIn, failures, audit, latest: { keep: () => {} }, system })
  const complete = async (verify: () => Promise<VerifiedIdentity>, policy: ProviderPolicy = provider) => {
    const flow = await flows.create({ provider: 'a', ...target }, client.address)
    const consumed = await flows.consume(flow.id)
    const attempt = { policy, client, flow: consumed, ...target, verify }
    const error = await signOn.complete(attempt).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    return { error, isLeft: (await flows.consume(flow.id)) !== undefined }
  }
  return { begun, complete, failures, recorded, system }
}

test('an overload does not use up the flow: the browser can send its response again (D8.2)', async t => {
  const { complete, failures } = setUp(t)
  const { error, isLeft } = await complete(() =>
    Promise.reject(new Overloaded('Too many SAML responses wait for their check. Try again in a moment.')),
  )
  assert.ok(error instanceof Overloaded)
  assert.ok(isLeft)
  assert.deepEqual(failures.list(), [])
})

test('a refusal uses up the flow, and is reported with where the browser goes (D8.5)', async t => {
  const { complete, failures, recorded } = setUp(t)
  const { error, isLeft } = await complete(() => Promise.reject(new SsoRefused({ check: 'audience', received: 'x' })))
  assert.ok(error instanceof SsoRefused)
  assert.ok(!isLeft)
  const [failure] = failures.list()
  assert.deepEqual(error.extra, { check: 'audience', correlation: failure?.correlation })
  assert.equal(error.failureUrl, target.failureUrl)
  assert.equal(recorded.length, 1)
})

test('with every protocol an assertion signs on once (D8.3)', async t => {
  const { complete, system } = setUp(t)
  const identity: VerifiedIdentity = { name: 'anna', issuer: 'i', once: { id: '_1', until: system.now() + 1000 } }
  assert.equal((await complete(async () => identity)).error, undefined)
  const { error } = await complete(async () => identity)
  assert.equal((error as SsoRefused).failed.check, 'replay')
})

test('a sign-on counts as a second factor only with an authentication context that the settings name (D28.10)', async t => {
  const { begun, complete } = setUp(t)
  const mfa = 'https://refeds.org/profile/mfa'
  const trusting = { ...provider, factorContexts: [mfa] }
  const contexts = [mfa, 'https://refeds.org/profile/sfa', `${mfa} `, mfa.toUpperCase(), '', undefined]
  for (const authnContext of contexts)
    await complete(async () => ({ name: 'anna', issuer: 'i', authnContext }), trusting)
  await complete(async () => ({ name: 'anna', issuer: 'i', authnContext: mfa }))
  await complete(async () => ({ name: 'anna', issuer: 'i' }), { ...provider, factorContexts: [''] })
  assert.deepEqual(begun, [true, false, false, false, false, false, false, false])
})
