import { StartupError, SettingsError } from '../base/errors.ts'
import { features } from '../features/features.ts'
import type { Settings } from '../config/settings.ts'
import { requireKeyFile } from '../stores/key-file.ts'
import { requireDataFolder } from '../core/data-folder.ts'
import { requireTokenKeys } from '../core/sealing-keys.ts'
import { redisCertificate } from '../core/ephemeral-stores.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'

type Environment = Pick<RuntimeEnvironment, 'tokenKey'>

/**
 * Checks what the settings name: the data folder, files with keys, certificates and lists, and addresses of servers. Writes nothing and
 * connects to nothing.
 * @throws {SettingsError} with all problems, one per line
 */
export async function requireUsable(settings: Settings, environment: Environment): Promise<void> {
  const problems: string[] = []
  for (const check of [...checks, ...features.map(({ requireUsable }) => requireUsable)]) {
    try {
      await check(settings, environment)
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      problems.push(error.message)
    }
  }
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
}

/** The libraries are loaded only where the settings use them. */
const checks: ReadonlyArray<(settings: Settings, environment: Environment) => unknown> = [
  settings => requireDataFolder(settings),
  (settings, { tokenKey }) => requireTokenKeys(settings, tokenKey),
  async settings => {
    const file = settings['service.auth.second-factor.key-file']
    if (file !== undefined) await requireKeyFile(file, settings['service.data.folder'])
  },
  async settings => {
    const url = settings['service.repository.store.url']
    if (url !== undefined) await (await import('../stores/postgres/postgres-pool.ts')).requireAddress(url)
  },
  async settings => {
    const certificate = redisCertificate(settings)
    if (certificate) await (await import('../stores/redis/redis-connection.ts')).readCertificate(certificate)
  },
]
