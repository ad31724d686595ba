import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { architecture, buildPackages, builtClone, fileIn, output } from '../support/peers/packages.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('two builds of a commit in different folders are equal byte for byte, and each has its checksum', async () => {
  const clone = await builtClone(['npm', 'deb'])
  const release = join(clone, 'build/release')
  const second = await temporaryFolder()
  const again = await buildPackages(join(second, 'another-name'), ['npm', 'deb'], clone)
  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
  for (const end of ['.tgz', '.tgz.cdx.json', `${architecture}.deb`, `${architecture}.deb.cdx.json`])
    assert.equal(digest(await fileIn(again, end)), digest(await fileIn(release, end)), end)
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: release })
  const named = readFileSync(join(release, 'SHA256SUMS'), 'utf8').match(/\S+$/gm)
  assert.deepEqual(
    named,
    readdirSync(release)
      .filter(name => name !== 'SHA256SUMS')
      .sort(),
  )

  // The machine of a program in the format ELF.
  const tree = await temporaryFolder()
  await output('dpkg-deb', ['-x', await fileIn(again, 'arm64.deb'), tree])
  const native = join(tree, 'opt/stowage/node_modules/@node-rs/argon2-linux-arm64-gnu/argon2.linux-arm64-gnu.node')
  for (const file of [native, join(tree, 'opt/stowage/bin/node')])
    assert.equal(readFileSync(file).readUInt16LE(18), 183, file)
})
