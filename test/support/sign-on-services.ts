import type { Audit } from '../../src/accounts/audit.ts'
import type { IdentifiedUser, SignIn } from '../../src/accounts/sign-in.ts'
import type { Session, Sessions } from '../../src/accounts/sessions.ts'
import type { User } from '../../src/accounts/users.ts'
import { createLog } from '../../src/base/log.ts'
import type { AccountMatcher } from '../../src/features/sso/account-matcher.ts'
import type { SsoSubject } from '../../src/accounts/provider-links.ts'
import { SsoFailures } from '../../src/features/sso/failures.ts'
import type { ProviderPolicy, VerifiedIdentity } from '../../src/features/sso/identity-provider.ts'
import { LoginFlows } from '../../src/features/sso/login-flows.ts'
import { SignOn } from '../../src/features/sso/sign-on.ts'
import { LatestSignOns } from '../../src/features/sso/latest-sign-ons.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from './fake-system.ts'

export const client = { address: '192.0.2.1', userAgent: '' }
export const policy: ProviderPolicy = { name: 'a', provisions: true, domains: [], maxAge: 600 }
export const anna = { id: '7', name: 'anna' } as User
export const identity: VerifiedIdentity = { name: 'anna', issuer: 'https://idp.a', subject: 's' }
type Fits = (session: Session) => boolean

/** What completes sign-ons, with accounts and sessions that only take notes: the one user is anna, of the subject `s`. */
export function signOnServices(t: { after(work: () => Promise<void>): void }) {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system)
  t.after(() => store.close())
  const flows = new LoginFlows(store, system)
  const failures = new SsoFailures({ system, log: createLog('silent') })
  const recorded: unknown[] = []
  const begun: IdentifiedUser[] = []
  const ended: Array<readonly [key: string, fits?: Fits | undefined]> = []
  const open = new Map<string, Session>()
  const latest = new LatestSignOns(system)
  const signOn = new SignOn({
    flows,
    accounts: {
      match: async () => anna,
      find: async ({ subject }: SsoSubject) => (subject === 's' ? anna : undefined),
    } as unknown as AccountMatcher,
    sessions: {
      endByLogoutKey: async (key: string, fits?: Fits) => {
        ended.push([key, fits])
        return [{ userId: '7' }, { userId: '8' }]
      },
      list: async () => [...open.values()],
      end: async (token: string) => open.delete(token) && token !== 'raced',
    } as unknown as Sessions,
    signIn: {
      begin: async (user: IdentifiedUser) => {
        begun.push(user)
        return { session: { token: 't' } }
      },
    } as unknown as SignIn,
    failures,
    audit: { record: async (entry: unknown) => void recorded.push(entry) } as unknown as Audit,
    latest,
    system,
  })
  const target = { successUrl: 'https://ok.example/', failureUrl: 'https://failed.example/' }
  const complete = (changes: Partial<VerifiedIdentity> = {}) =>
    signOn.complete({ policy, client, flow: undefined, ...target, verify: async () => ({ ...identity, ...changes }) })
  return { begun, complete, ended, failures, flows, latest, open, recorded, signOn, system }
}
