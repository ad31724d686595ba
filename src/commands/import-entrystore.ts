import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Argon2id, HashThreads, WrappedPbkdf2 } from '../accounts/passwords.ts'
import { schema, openStores } from '../assembly/stores.ts'
import { fillStore, requireEmptyTarget, type Source } from '../backup/store-copy.ts'
import { StartupError } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { zoneNamed } from '../migration/entrystore/dates.ts'
import { adviceFor } from '../migration/entrystore/finding-codes.ts'
import { Unusable } from '../migration/entrystore/formats/quads.ts'
import { readEntryStore } from '../migration/entrystore/import.ts'
import type { Report } from '../migration/entrystore/report.ts'
import { migrate } from '../stores/migrations.ts'
import type { Scratch } from '../stores/scratch.ts'
import { openSqliteDatabase } from '../stores/sqlite/sqlite-database.ts'
import { openSqliteScratch } from '../stores/sqlite/sqlite-scratch.ts'
import { parseArguments, print, printError, UsageError } from './command.ts'
import { showProgress } from './copied.ts'
import { settingsFrom } from './settings-options.ts'

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
export async function importEntryStore(args: readonly string[]): Promise<number> {
  const { folder, values } = read(args)
  const settings = settingsFrom({ config: values.config, set: values.set }).loaded.settings
  const stores = values.check ? undefined : await openStores(settings, realSystem, { bare: true, isExclusive: true })
  try {
    // Before anything long begins.
    if (stores) await requireEmptyTarget(stores, schema)
    return await inScratch(values, settings, async deps => {
      const { report, source } = await readEntryStore(
        { folder, ...sourceOptions(values), defaultQuota: quotaOf(settings) },
        deps,
      )
      if (stores) await fill(source, stores, report)
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
    await stores?.close()
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
  if (strange !== undefined) throw new UsageError(`--accept takes ${acceptable.join(' or ')}, not "${strange}".`)
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

const quotaOf = (settings: Settings): number =>
  settings['service.data.quota'] ? settings['service.data.quota.default'] : -1

type Deps = Parameters<typeof readEntryStore>[1]

async function inScratch(values: Values, settings: Settings, work: (deps: Deps) => Promise<number>): Promise<number> {
  const scratch = await openScratch(values, settings)
  // An interrupt ends the program at once, but not before the scratch is gone: it holds the hashes of all passwords.
  const interrupted = (): never => process.exit(130)
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  const tables = await openSqliteDatabase(':memory:')
  const threads = new HashThreads(settings['service.auth.password.hash.concurrency'])
  const argon2id = new Argon2id(
    {
      memory: settings['service.auth.password.argon2.memory'],
      iterations: settings['service.auth.password.argon2.iterations'],
      parallelism: settings['service.auth.password.argon2.parallelism'],
    },
    threads,
  )
  const wrapped = new WrappedPbkdf2(argon2id)
  try {
    await migrate(tables, schema)
    return await work({
      scratch,
      tables,
      schema: schema.at(-1)?.id ?? 0,
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

/** Beside the new store, where there is space for it; a check leaves that place alone. */
async function openScratch({ temp, check }: Values, settings: Settings): Promise<Scratch> {
  if (temp !== undefined || check) return await openSqliteScratch(temp ?? tmpdir())
  return await openSqliteScratch(join(resolve(settings['service.data.folder']), 'import'), { ownsParent: true })
}

async function fill(source: Source, stores: Parameters<typeof fillStore>[1], report: Report): Promise<void> {
  const { damaged } = await fillStore(source, stores, schema, { progress: showProgress() })
  for (const { context, entry } of damaged)
    report.note('file-missing', `${context}/${entry}: it changed during the import`)
}
