import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new empty folder, removed after the test. */
export async function temporaryFolder(t: { after(work: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-'))
  // A service that ends after this hook may still write to it.
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}
