import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentCaller } from '../../src/accounts/present-caller.ts'
import { Sessions } from '../../src/accounts/sessions.ts'
import { digestOf, TokenSealer } from '../../src/accounts/tokens.ts'
import { findUser, insertUser } from '../../src/accounts/users.ts'
import { callerFrom, credentialOf } from '../../src/features/operations/credential.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const client = { address: '192.0.2.1', userAgent: '' }

test('an operation goes on after a restart while its session goes on, also after a new password (D51.8)', async t => {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const sealer = new TokenSealer([system.randomBytes(32)], system)
  const options = { maxAge: 100, refreshOnAccess: true, absoluteMaxAge: -1, maxPerUser: 100, accessInterval: 0 }
  const sessions = new Sessions(new MemoryEphemeralStore(system), sealer, system, options)
  await database.transaction(tx => insertUser(tx, { id: '7', name: 'anna' }))
  const user = (await findUser(database, '7')) ?? assert.fail()
  const session = await sessions.open(user, client)
  const text = credentialOf({ user, groups: new Set(), client, session })
  assert.ok(!text.includes(session.token))
  const afterRestart = async () => await callerFrom({ database, sessions, credentials: [] }, '7', text)
  const isStillValid = async () => {
    const caller = await afterRestart()
    return (
      caller !== undefined &&
      (await presentCaller(database, caller).then(
        () => true,
        () => false,
      ))
    )
  }
  const change = (kept: string) =>
    database.run(sql`UPDATE principals SET epoch = epoch + 1, spared_login = ${digestOf(kept)} WHERE id = ${'7'}`)

  assert.equal(await isStillValid(), true)
  await change(session.token)
  assert.equal(await isStillValid(), true, 'a new password that kept the session')
  await change('another')
  assert.equal(await isStillValid(), false, 'a new password in another session')
  await sessions.end(session.token)
  assert.equal(await afterRestart(), undefined)
})
