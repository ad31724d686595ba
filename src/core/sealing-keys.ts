import { StartupError } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { parseKeys, readKeyFile, requireKeyFile } from '../stores/key-file.ts'
import { factorKeyFile } from './factor-key-file.ts'

interface Environment {
  readonly system: System
  /** `SERVICE_AUTH_TOKEN_KEY`. */
  readonly tokenKey?: string | undefined
}

/** The keys that seal tokens outside memory; a missing file is created. @throws {StartupError} */
export async function tokenSecrets(settings: Settings, { system, tokenKey }: Environment): Promise<Uint8Array[]> {
  const source = tokenKeySource(settings, tokenKey)
  return 'keys' in source ? source.keys : await readKeyFile(source.file, system)
}

/** Checks the keys that a start would use, and creates nothing. @throws {StartupError} */
export async function requireTokenKeys(settings: Settings, tokenKey: string | undefined): Promise<void> {
  if (settings['service.auth.token.store'] === 'memory') return
  const source = tokenKeySource(settings, tokenKey)
  if ('file' in source) await requireKeyFile(source.file, settings['service.data.folder'])
}

function tokenKeySource(
  settings: Settings,
  tokenKey: string | undefined,
): { readonly file: string } | { readonly keys: Uint8Array[] } {
  const file = settings['service.auth.token.key-file']
  if ((file === undefined) === (tokenKey === undefined)) {
    throw new StartupError(
      `service.auth.token.store=${settings['service.auth.token.store']} keeps tokens outside memory, sealed: ` +
        'it needs either service.auth.token.key-file or the environment variable SERVICE_AUTH_TOKEN_KEY.',
    )
  }
  if (file !== undefined) return { file }
  return { keys: parseKeys((tokenKey ?? '').replaceAll(',', '\n'), 'SERVICE_AUTH_TOKEN_KEY') }
}

/**
 * The keys that seal secrets of TOTP and of public links: the keys in the file that the settings name; without such a file, the keys of
 * sessions, which all nodes share; without these, the keys in a file in the data folder.
 */
export async function factorKeys(
  settings: Settings,
  { system }: Pick<Environment, 'system'>,
  tokenKeys: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  const file = factorKeyFile(settings)
  return file === undefined ? tokenKeys : await readKeyFile(file, system)
}
