import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SettingsError, StartupError } from '../base/errors.ts'
import type { Environment } from './environment.ts'
import type { ConfigFile } from './source-values.ts'

const DEFAULT_FILE = 'service.properties'

/**
 * Reads the configuration file: the one named by `--config`, else by `SERVICE_CONFIG`, else `./service.properties` if it
 * exists, else none (D10.1).
 *
 * @throws {SettingsError} that names path and reason, when the file cannot be read or is not UTF-8.
 */
export function readConfigFile(named: string | undefined, environment: Environment): ConfigFile | undefined {
  const path = named ?? environment.configFile
  if (path !== undefined) return { path, text: read(path) }
  try {
    return { path: DEFAULT_FILE, text: read(DEFAULT_FILE) }
  } catch (error) {
    if (error instanceof SettingsError && codeOf(error.cause) === 'ENOENT') return undefined
    throw error
  }
}

function read(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    const code = codeOf(error)
    const reason = reasons.get(code) ?? (error instanceof Error ? error.message : code)
    const advice = code === 'EACCES' ? '. Let this user read it, or name another file with --config' : ''
    throw new SettingsError(`The configuration file ${resolve(path)} cannot be read: ${reason}${advice}`, {
      cause: error,
    })
  }
}

/**
 * Writes a new configuration file that only this user can read.
 * @throws {StartupError} when the file already exists, or cannot be written
 */
export function writeNewConfigFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const code = codeOf(error)
    const reason = code === 'EEXIST' ? 'there is such a file already' : (reasons.get(code) ?? code)
    throw new StartupError(`The configuration file ${path} cannot be written: ${reason}`, { cause: error })
  }
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['EISDIR', 'it is a folder'],
  ['ERR_ENCODING_INVALID_ENCODED_DATA', 'it is not UTF-8'],
])

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
