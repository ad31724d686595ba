import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Argon2id, hashCost, hashLimits, HashThreads, WrappedPbkdf2 } from '../../src/accounts/passwords.ts'
import { fillStore, requireEmptyTarget, type Source, type Target } from '../../src/backup/store-copy.ts'
import type { Layout } from '../../src/backup/tables.ts'
import { StartupError } from '../../src/base/errors.ts'
import { realSystem } from '../../src/base/system.ts'
import { keepTemporaryFilesIn } from '../../src/config/environment.ts'
import type { Settings } from '../../src/config/settings.ts'
import { zoneNamed } from './dates.ts'
import { adviceFor } from './finding-codes.ts'
import { Unusable } from './formats/quads.ts'
import { readEntryStore } from './import.ts'
import type { Report } from './report.ts'
import { migrate } from '../../src/stores/migrations.ts'
import type { Scratch } from '../../src/stores/scratch.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { openSqliteScratch } from '../../src/stores/sqlite/sqlite-scratch.ts'
import { parseArguments, print, printError, type Program, UsageError } from '../../src/core/command.ts'
import { showProgress } from '../../src/core/copied.ts'

export const importEntryStoreUsage =
  'FOLDER [--check] [--files DIR] [--provenance DIR] [--base URL] [--also-base URL] [--zone ZONE] [--wrap-hashes] ' +
  '[--accept backup-failed|truncated]… [--json] [--temp DIR] [--config FILE] [--set KEY=VALUE]…'

const options = {
  check: { type: 'boolean', default: false },
  files: { type: 'string' },
  provenance: { type: 'string' },
  base: { type: 'string' },
  'also-base': { type: 'string' },
  zone: { type: 'string' },
  'wrap-hashes': { type: 'boolean', default: false },
  accept: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
  temp: { type: 'string' },
  config: { type: 'string' },
  set: { type: 'string', multiple: true },
} as const

const acceptable = ['backup-failed', 'truncated']

/** Exit status: nothing to look at, findings, nothing that can be imported. */
const CLEAN = 0
const FINDINGS = 1
const UNUSABLE = 2

/** `stowage import entrystore`: fills the empty store that the settings describe, or with `--check` only reports. */
export async function importEntryStore(args: readonly string[], program: Program): Promise<number> {
  const { folder, values } = read(args)
  const { layout } = program
  const place = scratchPlace(values)
  if (place !== undefined) keepTemporaryFilesIn(place)
  const settings = program.settingsFrom({ config: values.config, set: values.set })
  const target = values.check ? undefined : await program.openTarget(settings)
  try {
    // Before anything long begins.
    if (target) await requireEmptyTarget(target, layout)
    return await inScratch(values, settings, layout, async deps => {
      const { report, source } = await readEntryStore(
        { folder, ...sourceOptions(values), defaultQuota: program.contextQuota(settings) },
        deps,
      )
      if (target) await fill(source, target, program, report)
      print(values.json ? JSON.stringify(report, undefined, 2) : report.toText())
      return report.isClean ? CLEAN : FINDINGS
    })
  } catch (error) {
    if (error instanceof StartupError) {
      printError(`stowage: ${error.message}`)
      return UNUSABLE
    }
    if (!(error instanceof Unusable)) throw error
    const { code, message } = error
    if (values.json) print(JSON.stringify({ unusable: { code, message, advice: adviceFor(code) } }, undefined, 2))
    printError(`stowage: ${code}: ${message}.\n${adviceFor(code)}`)
    return UNUSABLE
  } finally {
    await target?.close()
  }
}

type Values = ReturnType<typeof read>['values']

/** @throws {UsageError} */
function read(args: readonly string[]) {
  const parsed = parseArguments(args, options)
  const [folder, ...more] = parsed.positionals
  if (folder === undefined || more.length > 0) throw new UsageError('Name one folder: that of the backup.')
  return { folder, values: parsed.values }
}

/** @throws {UsageError} */
function sourceOptions(values: Values) {
  const zone = values.zone === undefined ? undefined : zoneNamed(values.zone)
  if (values.zone !== undefined && !zone) throw new UsageError(`There is no time zone "${values.zone ?? ''}".`)
  const strange = values.accept?.find(code => !acceptable.includes(code))
  if (strange !== undefined) throw new UsageError(`--accept must be ${acceptable.join(' or ')}, but is "${strange}".`)
  return {
    files: values.files,
    provenance: values.provenance,
    base: addressOf(values.base, 'base'),
    alsoBase: addressOf(values['also-base'], 'also-base'),
    zone,
    accept: new Set(values.accept),
  }
}

function addressOf(text: string | undefined, option: string): string | undefined {
  if (text === undefined) return undefined
  if (!/^https?:\/\/[^\s?#]+$/i.test(text))
    throw new UsageError(`--${option} is an address such as https://example.org/store/.`)
  return text.endsWith('/') ? text : `${text}/`
}

type Deps = Parameters<typeof readEntryStore>[1]

async function inScratch(
  values: Values,
  settings: Settings,
  { steps }: Layout,
  work: (deps: Deps) => Promise<number>,
): Promise<number> {
  const scratch = await openScratch(values, settings)
  // An interrupt ends the program at once, but not before the scratch is gone: it holds the hashes of all passwords.
  const interrupted = (): never => process.exit(130)
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  const tables = await openSqliteDatabase(':memory:')
  const threads = new HashThreads(hashLimits().concurrency)
  const argon2id = new Argon2id(hashCost(settings['service.auth.password.argon2.memory']), threads)
  const wrapped = new WrappedPbkdf2(argon2id)
  try {
    await migrate(tables, steps)
    return await work({
      scratch,
      tables,
      schema: steps.at(-1)?.id ?? 0,
      passwords: {
        hash: password => argon2id.hash(password),
        wrap: values['wrap-hashes'] ? hash => wrapped.wrap(hash) : undefined,
      },
      progress: showProgress(),
      system: realSystem,
    })
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    await threads.close()
    await tables.close()
    await scratch.close()
  }
}

/** `undefined` beside the new store, where there is space for it; a check leaves that place alone. */
const scratchPlace = ({ temp, check }: Values): string | undefined => temp ?? (check ? tmpdir() : undefined)

async function openScratch(values: Values, settings: Settings): Promise<Scratch> {
  const place = scratchPlace(values)
  if (place !== undefined) return await openSqliteScratch(place)
  return await openSqliteScratch(join(resolve(settings['service.data.folder']), 'import'), { ownsParent: true })
}

async function fill(source: Source, target: Target, { layout, derive }: Program, report: Report): Promise<void> {
  const progress = showProgress()
  const finish = (): Promise<void> => derive(target.database, progress)
  const { damaged } = await fillStore(source, target, layout, { progress, finish })
  for (const { context, entry } of damaged)
    report.note('file-missing', `${context}/${entry}: it changed during the import`)
}
