import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('admin without a password gets the one of a later start; after that the variable is ignored (D5.5, D19.9)', async t => {
  const folder = await temporaryFolder()
  const none = await startInProcess(t, { folder, adminPassword: undefined })
  assert.equal((await none.visitor().signIn('admin', 'a-later-Password-1')).status, 401)
  await none.close()
  await assert.rejects(startInProcess(t, { folder, adminPassword: 'sevench' }), /SERVICE_ADMIN_PASSWORD is too short/)
  const later = await startInProcess(t, { folder, adminPassword: 'a-later-Password-1' })
  assert.equal((await later.visitor().signIn('admin', 'a-later-Password-1')).status, 200)
  await later.close()
  for (const ignored of ['another-Password-2', 'short']) {
    const again = await startInProcess(t, { folder, adminPassword: ignored })
    assert.equal((await again.visitor().signIn('admin', ignored)).status, 401)
    assert.equal((await again.visitor().signIn('admin', 'a-later-Password-1')).status, 200)
    await again.close()
  }
})
