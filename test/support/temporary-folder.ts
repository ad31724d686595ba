import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []

// Hooks of a test run in the order in which they were added, so a hook would remove a folder before the service that uses
// it has ended. That can fail, and after a failed hook no other one runs: the service would stay, and the test with it.
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

/** A new empty folder, removed when the tests of this file have ended. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-'))
  folders.push(folder)
  return folder
}
