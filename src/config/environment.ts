import { readFileSync } from 'node:fs'
import { SettingsError } from '../base/errors.ts'

/** The environment variables of the service. */
export interface Environment {
  /** `SERVICE_CONFIG`: path of the configuration file (D10.1). */
  readonly configFile: string | undefined
  /** `SERVICE_ADMIN_PASSWORD`, or what the file `SERVICE_ADMIN_PASSWORD_FILE` holds: used only while admin has no password; not yet checked (D5.5). */
  readonly adminPassword: string | undefined
  /** `SERVICE_AUTH_TOKEN_KEY`: replaces `service.auth.token.key-file`, with the same content; not yet checked. */
  readonly tokenKey: string | undefined
  /** `NOTIFY_SOCKET`: set by a systemd that waits until the service is ready. */
  readonly notifySocket: string | undefined
  /** All variables, some of which are settings. */
  readonly settings: Readonly<Record<string, string | undefined>>
  /** Address and region of the S3 server; Amazon's client reads the credentials itself, as Amazon's tools do. */
  readonly s3: { readonly endpoint: string | undefined; readonly region: string | undefined }
}

/** The only place that reads the environment. Empty variables count as absent. @throws {SettingsError} */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env): Environment {
  return {
    configFile: variables['SERVICE_CONFIG'] || undefined,
    adminPassword: variables['SERVICE_ADMIN_PASSWORD'] || readPassword(variables['SERVICE_ADMIN_PASSWORD_FILE']),
    tokenKey: variables['SERVICE_AUTH_TOKEN_KEY'] || undefined,
    notifySocket: variables['NOTIFY_SOCKET'] || undefined,
    settings: variables,
    s3: {
      endpoint: variables['AWS_ENDPOINT_URL_S3'] || variables['AWS_ENDPOINT_URL'] || undefined,
      region: variables['AWS_REGION'] || undefined,
    },
  }
}

/**
 * Names the folder for temporary files of SQLite, because the usual ones can be in memory or read-only. It may be made later. SQLite reads the
 * variable when the process opens its first database, so this has no effect afterwards.
 */
export function keepTemporaryFilesIn(folder: string): void {
  process.env['SQLITE_TMPDIR'] ??= folder
}

function readPassword(path: string | undefined): string | undefined {
  if (!path) return undefined
  try {
    return readFileSync(path, 'utf8').replace(/[\r\n]+$/, '')
  } catch (cause) {
    const { message } = cause as Error
    throw new SettingsError(`SERVICE_ADMIN_PASSWORD_FILE names ${path}, but that file cannot be read: ${message}`, {
      cause,
    })
  }
}
