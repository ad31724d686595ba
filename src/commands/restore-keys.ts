import { factorKeyFile } from '../assembly/factors.ts'
import type { Settings } from '../config/settings.ts'
import { addKeys, readPrivate } from '../stores/key-file.ts'
import { print } from './command.ts'

/** Without the keys in the file at `from`, users could not sign in with their authenticator apps. */
export async function restoreKeys(from: string, settings: Settings): Promise<void> {
  const to = factorKeyFile(settings)
  if (to !== undefined) await addKeys(await readPrivate(from), to)
  else print(`Add the keys in ${from} to those of sessions: they seal the secrets of authenticator apps.`)
}
