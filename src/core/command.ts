import type { EffectiveSetting } from '../config/effective-setting.ts'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { CheckResult } from './check-result.ts'
import type { Layout } from '../backup/tables.ts'
import type { Settings } from '../config/settings.ts'
import type { Target } from '../backup/store-copy.ts'
import type { Progress } from '../base/progress.ts'
import type { Bytes } from '../base/units.ts'
import { escapeControls } from '../base/text.ts'
import type { Database } from '../stores/database.ts'
import type { OperatorStore } from './operator-store.ts'

/** Opens the store of some settings. @typeParam S the services that it has then */
export interface StoreOpener<S> {
  /** The settings that these options describe. @throws {StartupError} */
  readonly settingsFrom: (options: SettingsOptions) => Settings
  /**
   * Opens the store, does the work and closes it.
   * @param options.makesStore whether a store is made where there is none
   * @throws {StartupError} without a store of this version
   */
  readonly withStore: (
    settings: Settings,
    work: (store: S) => Promise<void>,
    options?: { readonly makesStore?: boolean },
  ) => Promise<void>
}

/** What a command of a feature or of the migration uses beside the settings. */
export interface Program extends StoreOpener<OperatorStore> {
  readonly version: string
  /** The commit from which the package was built; a clone has none. */
  readonly commit: string | undefined
  readonly layout: Layout
  /** The settings in effect; secrets are masked. @throws {StartupError} */
  readonly effectiveSettings: (options: SettingsOptions) => Promise<readonly EffectiveSetting[]>
  /** What `stowage doctor` finds with these settings. @throws {StartupError} */
  readonly runChecks: (options: SettingsOptions) => Promise<readonly CheckResult[]>
  /** Opens the store of these settings for a command that fills it, alone. @throws {StartupError} */
  readonly openTarget: (settings: Settings) => Promise<OpenTarget>
  /** Derives the relations and the search index from the rows of a store that a command has filled. */
  readonly derive: (database: Database, progress: Progress) => Promise<void>
  /** The quota of contexts without their own; -1 is unlimited. */
  readonly contextQuota: (settings: Settings) => Bytes
}

export interface OpenTarget extends Target {
  readonly close: () => Promise<void>
}

/** The options of every command that reads settings. */
export interface SettingsOptions {
  readonly config: string | undefined
  readonly set: readonly string[] | undefined
}

export const settingsOptions = {
  config: { type: 'string' },
  set: { type: 'string', multiple: true },
} as const satisfies ParseArgsConfig['options']

export const settingsUsage = '[--config FILE] [--set KEY=VALUE]…'

/** A verb of the command line. */
export interface Command {
  readonly name: string
  /** What may follow the name. */
  readonly usage: string
  readonly summary: string
  /** Resolves to the exit status. Prints results to standard output. */
  readonly run: (args: readonly string[]) => Promise<number>
}

/** The arguments make no sense; the message is followed by how to call the command. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** Whether the arguments ask how to call the command, whatever else they say. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end === -1 ? args : args.slice(0, end)).some(arg => arg === '--help' || arg === '-h')
}

/** The ways to call a command. For a command with subcommands, only the ways that begin with the same word as the arguments. */
export function usageOf({ name, usage }: Command, [verb = '']: readonly string[]): string {
  const calls = `${name} ${usage}`.trimEnd().split('\n       ')
  const chosen = calls.filter(call => call.split(' ')[1] === verb)
  return (chosen.length > 0 ? chosen : calls)
    .map((call, index) => `${index === 0 ? 'usage:' : '      '} stowage ${call}`)
    .join('\n')
}

/** The options and words of a command. @throws {UsageError} for others */
export function parseArguments<const Options extends ParseArgsConfig['options'] & {}>(
  args: readonly string[],
  options: Options,
  allowPositionals = true,
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export const print = (text: string): void => {
  process.stdout.write(`${escapeControls(text)}\n`)
}

export const printError = (text: string): void => {
  process.stderr.write(`${escapeControls(text)}\n`)
}

/** The refusal of a word that a command does not have. @param word absent where none was given */
export const wrongWord = (command: string, words: readonly string[], word = ''): UsageError =>
  new UsageError(
    `The word after ${command} must be one of ${words.join(', ')}, but ${word === '' ? 'is missing' : `is "${word}"`}.`,
  )
