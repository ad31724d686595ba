import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guestFrom } from '../../src/accounts/caller.ts'
import { boundTo, requireSessionOf, StepUp, type StepUpMode } from '../../src/accounts/step-up.ts'
import type { User } from '../../src/accounts/users.ts'
import { callerOf, client, keptAudit, sessionOf } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'

const nora: User = { ...guestFrom(client).user, id: '7', name: 'nora' }
const withFactor: User = { ...nora, hasSecondFactor: true }

function setUp(mode: StepUpMode) {
  const system = new FakeSystem()
  const { audit, inserted } = keptAudit()
  const calls: unknown[] = []
  const stepUp = new StepUp(
    {
      factors: {
        verify: async (...given: unknown[]) => {
          calls.push(['verify', ...given])
          return 'passkey'
        },
      } as never,
      login: { requireCurrentPassword: async (...given: unknown[]) => void calls.push(['password', ...given]) },
      sessions: { noteProof: async (...given: unknown[]) => void calls.push(['proof', ...given]) },
      audit,
      system,
    },
    mode,
  )
  return { stepUp, system, inserted, calls }
}

const refusal = {
  name: 'Forbidden',
  code: 'fresh-sign-in-required',
  message:
    'Your last proof of identity is older than five minutes. Send a new one to `POST /auth/fresh`, then repeat the request.',
}

test('a proof is recent for five minutes, and then no longer (D28.6)', () => {
  const { stepUp, system } = setUp('all')
  const session = sessionOf(nora, { loginTime: system.now() })
  system.pass(300_000)
  stepUp.requireFresh({ user: nora, session })
  system.pass(1)
  assert.throws(() => stepUp.requireFresh({ user: nora, session }), refusal)
  stepUp.requireFresh({ user: nora, session: { ...session, authenticated: system.now() } })
  system.pass(300_001)
  assert.throws(
    () => stepUp.requireFresh({ user: nora, session: { ...session, authenticated: system.now() - 300_001 } }),
    refusal,
  )
})

test('the setting decides who is asked; without a session nobody is (D28.6)', () => {
  const asked = { off: [], factors: [withFactor], all: [nora, withFactor] }
  for (const mode of ['off', 'factors', 'all'] as const) {
    const { stepUp } = setUp(mode)
    for (const user of [nora, withFactor]) {
      const isAsked = (asked[mode] as User[]).includes(user)
      const act = () => stepUp.requireFresh({ user, session: sessionOf(user) })
      if (isAsked) assert.throws(act, refusal, mode)
      else act()
      stepUp.requireFresh({ user })
    }
  }
})

test('a user proves the password, or the factor if there is one, and that is noted for the session', async () => {
  const { stepUp, calls, inserted } = setUp('all')
  const session = sessionOf(nora)
  await stepUp.prove(callerOf(nora, session), { password: 'p' })
  assert.deepEqual(calls.splice(0), [
    ['password', nora, 'p', client],
    ['proof', session, false],
  ])
  const about = { userId: '7', userName: 'nora', actorId: '7', address: client.address }
  assert.deepEqual(inserted.splice(0), [{ event: 'step-up', ...about, detail: { mechanism: 'password' } }])
  await stepUp.prove(callerOf(withFactor, session), { code: '1' })
  assert.deepEqual(calls.splice(0), [
    ['verify', withFactor, { code: '1' }, { client, bound: `session:${session.id}` }],
    ['proof', session, true],
  ])
  assert.deepEqual(inserted.splice(0), [{ event: 'step-up', ...about, detail: { mechanism: 'passkey' } }])
  assert.equal(boundTo(session), `session:${session.id}`)
})

test('a password is no proof where a factor is needed, and nothing is checked or noted', async () => {
  const { stepUp, calls, inserted } = setUp('off')
  await assert.rejects(stepUp.prove(callerOf(withFactor, sessionOf(nora)), { password: 'p' }), {
    code: 'fresh-sign-in-required',
    message: 'Send a second factor: the password alone is not enough.',
  })
  assert.deepEqual([calls, inserted], [[], []])
})

test('only a session can be proven again: not by a guest, and not with HTTP Basic', async () => {
  const { stepUp, calls } = setUp('all')
  const refused = {
    code: 'not-allowed',
    message: 'You may not prove again who you are without a session. Sign in with a cookie.',
  }
  await assert.rejects(stepUp.prove(callerOf(nora), { password: 'p' }), refused)
  const guest = guestFrom(client)
  await assert.rejects(stepUp.prove(callerOf(guest.user, sessionOf(guest.user)), { password: 'p' }), refused)
  assert.deepEqual(calls, [])
  const session = sessionOf(nora)
  assert.equal(requireSessionOf(callerOf(nora, session), 'x'), session)
})
