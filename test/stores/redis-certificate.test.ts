import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StartupError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { connectRedis } from '../../src/stores/redis/redis-connection.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a certificate for Redis that cannot be read, or a key that others can read, stops the start and names the file', async () => {
  const folder = await temporaryFolder()
  const [certificateFile, keyFile] = [join(folder, 'client.crt'), join(folder, 'client.key')]
  const refused = async (message: RegExp): Promise<void> => {
    // The files are read before the server is asked, so there need not be one.
    const connecting = connectRedis('rediss://127.0.0.1:1', createLog('silent'), {
      certificate: { certificateFile, keyFile },
    })
    await assert.rejects(connecting, (error: Error) => {
      assert.ok(error instanceof StartupError)
      assert.match(error.message.replace(folder, ''), message)
      return true
    })
  }
  await refused(/^The certificate for Redis cannot be used \(.*\): ENOENT.*\/client\.crt'/)
  await writeFile(certificateFile, 'certificate')
  await refused(/^The certificate for Redis cannot be used \(.*\): ENOENT.*\/client\.key'/)
  await writeFile(keyFile, 'key')
  await chmod(keyFile, 0o644)
  await refused(/^\/client\.key contains keys, and other users than its owner can access it: run chmod 600 on it\.$/)
})
