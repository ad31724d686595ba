import { join, resolve } from 'node:path'
import type { Settings } from '../config/settings.ts'
import { addKeys } from '../stores/key-file.ts'
import { print } from './command.ts'

/** Created in the data folder when the first secret is sealed, or at the start of a node. */
const KEY_FILE = 'second-factors.key'

/** The keys for a backup: not those of sessions, nor those in a file that the operator keeps. */
export const ownFactorKeyFile = (settings: Settings): string | undefined =>
  settings['service.auth.second-factor.key-file'] === undefined ? factorKeyFile(settings) : undefined

/** `undefined` where the keys of sessions seal the secrets. */
export function factorKeyFile(settings: Settings): string | undefined {
  const file = settings['service.auth.second-factor.key-file']
  if (file !== undefined || settings['service.auth.token.store'] !== 'memory') return file
  return join(resolve(settings['service.data.folder']), KEY_FILE)
}

/** Without these keys, users could not sign in with their authenticator apps. @param from describes where they are */
export async function restoreKeys(text: string, from: string, settings: Settings): Promise<void> {
  const to = factorKeyFile(settings)
  if (to !== undefined) await addKeys(text, to)
  else print(`Add the keys in ${from} to those of sessions: they seal the secrets of authenticator apps.`)
}
