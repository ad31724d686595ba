import { resolve } from 'node:path'
import type { ParseArgsConfig } from 'node:util'
import { type Environment, keepTemporaryFilesIn, readEnvironment } from '../config/environment.ts'
import { readConfigFile } from '../config/file.ts'
import { type LoadedSettings, loadSettings } from '../config/load.ts'
import type { WrittenSources } from '../config/source-values.ts'
import { parseArguments, type SettingsOptions, settingsOptions, UsageError } from '../core/command.ts'

interface ReadSettings {
  readonly loaded: LoadedSettings
  readonly environment: Environment
  /** The path of the configuration file. */
  readonly file: string | undefined
  /** The sources of the settings, for reading them again. */
  readonly sources: WrittenSources
}

/** Reads `--config` and `--set`, and the command's own flags. @throws {UsageError} @throws {StartupError} */
export function readSettings(
  args: readonly string[],
  flags: readonly string[] = [],
): ReadSettings & { readonly has: (flag: string) => boolean } {
  const own = Object.fromEntries(flags.map(flag => [flag, { type: 'boolean' as const }]))
  const values = parse(args, { ...settingsOptions, ...own })
  const read = settingsFrom({
    config: values['config'] as string | undefined,
    set: values['set'] as string[] | undefined,
  })
  return { ...read, has: flag => values[flag] === true }
}

/** The settings that these options describe. Temporary files of SQLite are in their data folder. @throws {StartupError} */
export function settingsFrom({ config, set = [] }: SettingsOptions): ReadSettings {
  requireAssignments('--set', set)
  const environment = readEnvironment()
  const file = readConfigFile(config, environment)
  const sources = { file, environment: environment.settings, overrides: set }
  const loaded = loadSettings(sources)
  // Before the process opens its first database, which may be another one than the store.
  keepTemporaryFilesIn(resolve(loaded.settings['service.data.folder']))
  return { loaded, environment, file: file?.path, sources }
}

/** Quotes no more than the key, because a value may be a secret. @throws {UsageError} */
export function requireAssignments(option: string, given: readonly string[]): void {
  const wrong = given.find(text => !/^\s*[^=\s][^=]*=/.test(text))
  if (wrong === undefined) return
  const [key = ''] = /^[\w.<>-]*/.exec(wrong) ?? []
  throw new UsageError(`${option} takes KEY=VALUE, but "${key}" has no value.`)
}

function parse(args: readonly string[], options: ParseArgsConfig['options'] & {}): Readonly<Record<string, unknown>> {
  return parseArguments(args, options, false).values
}
