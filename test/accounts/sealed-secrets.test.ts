import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { SealedSecrets } from '../../src/accounts/sealed-secrets.ts'
import { StartupError, StorageFull, StorageReadOnly, StoreUnavailable } from '../../src/base/errors.ts'
import { readKeyFile } from '../../src/stores/key-file.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { fillDisk, freeDisk, smallDisk } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const system = new FakeSystem()
const secretsOf = (file: string): SealedSecrets =>
  new SealedSecrets(() => readKeyFile(file, system), system, 'second factor')
const secret = Uint8Array.from([1, 2, 3])

test('a key file that a full disk does not take is a full disk, and leaves nothing behind', async t => {
  const disk = await smallDisk(t, 2 ** 20)
  if (disk === undefined) return
  const secrets = secretsOf(join(disk, 'factor.key'))
  await fillDisk(disk, 0)
  await assert.rejects(secrets.seal(secret, '7'), StorageFull)
  assert.deepEqual(await readdir(disk), ['filler'])
  await freeDisk(disk)
  assert.notEqual(await secrets.open(await secrets.seal(secret, '7'), '7'), undefined)
})

test('while the folder of the key file is away or its disk is read-only, requests are refused as during any outage', async () => {
  const folder = join(await temporaryFolder(), 'keys')
  const secrets = secretsOf(join(folder, 'factor.key'))
  await assert.rejects(secrets.seal(secret, '7'), StoreUnavailable)
  await mkdir(folder)
  const sealed = await secrets.seal(secret, '7')
  assert.notEqual(await secrets.open(sealed, '7'), undefined)
  const cause = Object.assign(new Error('read-only file system'), { code: 'EROFS' })
  const unreadable = async () => Promise.reject(new StartupError('the key file cannot be used', { cause }))
  await assert.rejects(new SealedSecrets(unreadable, system, 'second factor').seal(secret, '7'), StorageReadOnly)
})
