import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ThreadPool } from '../../src/workers/thread-pool.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const hasFault = Number.parseInt(process.versions.node, 10) < 24

// Before Node 24 the whole process ends if a thread is ended while `require()` links an ES module. That moment is short and cannot be met
// at will, so this test shows that no thread loads an ES module in this way.
test('threads load their modules by import, so that a thread can be ended at any time', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'other.js'), 'export const loaded = true\n')
  await writeFile(
    join(folder, 'module.js'),
    `import { createRequire } from 'node:module'
export default function () {
  try {
    return createRequire(import.meta.url)('./other.js').loaded
  } catch ({ code }) {
    return code
  }
}
`,
  )
  const pool = new ThreadPool({ module: pathToFileURL(join(folder, 'module.js')), threads: 1 })
  try {
    assert.equal(await pool.run(undefined), hasFault ? 'ERR_REQUIRE_ESM' : true)
  } finally {
    await pool.close()
  }
})
