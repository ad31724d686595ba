import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stowage } from '../support/cli.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { storeArguments } from '../support/store.ts'

/** Begins a command of a terminal, as ESC and [ do. */
const CSI = '\u009b'

test('what strangers write reaches no terminal as a control character, by the log or an export (D35.39)', async t => {
  const service = await startProcess(t)
  const admin = await service.admin()
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const about = `${admin.base}${context}/resource/${entry}`
  const title = { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: `name${CSI}31m` }] }
  assert.equal((await admin.put(`${context}/metadata/${entry}`, { [about]: title })).status, 204)
  assert.equal((await admin.ask(`${context}/entry/${entry}`, { method: 'DELETE' })).status, 204)
  const args = await storeArguments(service.folder)
  for (const flags of [[], ['--json']]) {
    const { stdout } = await stowage(service.folder, ['audit', 'export', ...flags, ...args])
    assert.match(stdout, /name\\u009b31m/)
    assert.doesNotMatch(stdout, /[^\P{Cc}\n]/u)
  }
  const { stderr } = await stowage(service.folder, ['unlock', `name${CSI}31m`, ...args])
  assert.match(stderr, /no user "name\\u009b31m"/)
  await service.stop()
  assert.match(service.output(), /name\\u009b31m/)
  assert.doesNotMatch(service.output(), /[^\P{Cc}\n]/u)
})
