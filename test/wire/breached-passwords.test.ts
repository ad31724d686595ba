import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stowage } from '../support/cli.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a list made by the command is used by the service; doctor reads all of it (D32.2)', async () => {
  const folder = await temporaryFolder()
  const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase()
  const lines = Array.from({ length: 5000 }, (_, index) => `${sha1(`leaked ${index}`)}:${(index % 9) + 1}`)
  await writeFile(join(folder, 'hashes.txt'), `${lines.sort().join('\r\n')}\r\n`)
  const run = (...args: string[]) => stowage(folder, ['breached-passwords', ...args])
  const built = await run('build', '--output', 'leaked.filter', '--min-count', '2', 'hashes.txt')
  assert.equal(built.status, 0, built.stderr)
  assert.match(built.stdout, /^leaked\.filter holds 4444 passwords in \d+ bytes\.\n$/)
  assert.match(
    (await run('verify', 'leaked.filter')).stdout,
    /^leaked\.filter is complete: 4444 passwords, 0\.\d\d of a million/,
  )
  const setting = 'service.auth.password.rule.breached=leaked.filter'
  const examined = await stowage(folder, ['doctor', '--set', setting])
  assert.match(examined.stdout, /^warning: breached passwords: only 4,444 in leaked\.filter/m)

  await writeFile(join(folder, 'ntlm.txt'), `${'0'.repeat(32)}:1\n`)
  const ntlm = await run('build', '--output', 'other.filter', 'ntlm.txt')
  assert.deepEqual([ntlm.status, ntlm.stdout], [1, ''])
  assert.equal(ntlm.stderr, 'stowage: ntlm.txt, line 1: this is an NTLM hash; download the list of SHA-1 hashes.\n')
  assert.deepEqual(
    (await readdir(folder)).filter(name => name.startsWith('other')),
    [],
    'nothing is left of it',
  )
  for (const args of [
    [],
    ['build'],
    ['build', 'hashes.txt'],
    ['build', '--output', 'x', '--min-count', '0', 'hashes.txt'],
  ]) {
    assert.equal((await run(...args)).status, 2, args.join(' '))
  }
  await writeFile(join(folder, 'leaked.filter'), 'something else')
  const serve = await stowage(folder, ['serve', '--set', 'service.http.port=0', '--set', setting])
  assert.equal(serve.status, 78)
  assert.match(
    serve.stderr,
    /The list of breached passwords .*leaked\.filter cannot be used: it ends early\. Build it again\./,
  )
})
