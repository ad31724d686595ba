import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphOf, readEntry, STORE, textTerm, uriTerm, valuesOf } from '../support/content.ts'
import { Visitor } from '../support/http-client.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const settingsFor = (port: number, base: string) => ({
  'service.http.port': String(port),
  'service.baseurl.folder': base,
})

test('a store made under one base address answers under another after a restart (D1.1)', async t => {
  const folder = await temporaryFolder()
  const port = await freePort()
  const old = await startInProcess(t, { folder, settings: settingsFor(port, `http://127.0.0.1:${port}/old/place`) })
  assert.equal(old.base, `http://127.0.0.1:${port}/old/place/`)
  const before = await old.admin()
  const context = await newContext(before)
  const r = `${old.base}${context}/resource/_newId`
  const id = await newEntry(before, context, '', {
    metadata: {
      ...graphOf(r, 'http://ex.org/p', uriTerm(`${old.base}${context}`), textTerm(`see ${old.base}`)),
      ...graphOf('http://elsewhere.example/', 'http://ex.org/p', textTerm('x')),
    },
  })
  const own = await readEntry(before, context, id)
  await old.close()

  const base = `http://127.0.0.1:${port}/new/`
  const moved = await startInProcess(t, { folder, settings: settingsFor(port, base) })
  const admin = await moved.admin()
  const entry = await readEntry(admin, context, id)
  assert.deepEqual(valuesOf(admin, entry, `${context}/entry/${id}`, `${STORE}resource`), [
    `${base}${context}/resource/${id}`,
  ])
  assert.deepEqual(entry.metadata, {
    [`${base}${context}/resource/${id}`]: {
      'http://ex.org/p': [uriTerm(`${base}${context}`), textTerm(`see ${old.base}`)],
    },
    'http://elsewhere.example/': { 'http://ex.org/p': [textTerm('x')] },
  })
  assert.ok(JSON.stringify(own.info).includes('/old/place/'))
  assert.ok(!JSON.stringify(entry.info).includes('/old/place/'))
})

test('every URI is built from the configured base address, whatever the Host header (D1.1)', async t => {
  const port = await freePort()
  const base = 'https://store.example/repository/'
  await startInProcess(t, { settings: { ...settingsFor(port, base), 'service.auth.cookie.secure': 'off' } })
  const admin = new Visitor(`http://127.0.0.1:${port}/repository/`)
  assert.equal((await admin.signIn('admin', ADMIN_PASSWORD)).status, 200)
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
  const created = await admin.ask('_contexts?graphtype=context', { method: 'POST', headers })
  assert.equal(created.headers.location, `${base}_contexts/entry/${created.json<{ entryId: string }>().entryId}`)
  assert.equal(created.headers['strict-transport-security'], 'max-age=31536000')
  assert.ok(!(await admin.ask('_contexts/entry/_contexts', { headers })).text.includes('evil'))
})

test('routes answer under the path of the base and under /store/, and are one resource (D1.2)', async t => {
  const port = await freePort()
  const host = `http://127.0.0.1:${port}`
  const { base } = await startInProcess(t, { settings: settingsFor(port, `${host}/repository/`) })
  for (const prefix of [base, `${host}/store/`]) {
    const visitor = new Visitor(prefix)
    const answer = await visitor.get('_contexts/entry/_contexts')
    assert.equal(answer.status, 200, prefix)
    assert.ok(answer.text.includes(`"${base}_contexts/entry/_contexts"`))
    assert.equal((await visitor.get('auth/user?x=1')).status, 200)
  }
})
