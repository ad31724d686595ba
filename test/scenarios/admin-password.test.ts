import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('admin without a password gets the one of a later start; after that the variable is ignored (D5.5, D19.9)', async t => {
  const folder = await temporaryFolder()
  const none = await startInProcess(t, { folder, adminPassword: undefined })
  assert.equal((await none.visitor().signIn('admin', 'a-later-Password-1')).status, 401)
  await none.close()
  await assert.rejects(
    startInProcess(t, { folder, adminPassword: 'sevench' }),
    /SERVICE_ADMIN_PASSWORD .* 7 characters/,
  )
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

test('a first password that sign-in would not take stops the start, the longest one signs in (I8, D5.5)', async t => {
  const folder = await temporaryFolder()
  const longest = '😀'.repeat(2048)
  const start = (adminPassword: string) => startInProcess(t, { folder, adminPassword })
  await assert.rejects(start(`${longest}x`), /SERVICE_ADMIN_PASSWORD .* 2049 characters, and must have 8 to 2048/)
  const service = await start(longest)
  assert.equal((await service.visitor().signIn('admin', longest)).status, 200)
})
