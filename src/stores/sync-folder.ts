import { open } from 'node:fs/promises'

/** Makes the names in the folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
