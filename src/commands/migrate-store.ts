import { resolve } from 'node:path'
import { realSystem } from '../base/system.ts'
import { countRows, rowsOf } from '../backup/rows.ts'
import { fillStore, requireUsableStore } from '../backup/store-copy.ts'
import { keepTemporaryFilesIn, readEnvironment } from '../config/environment.ts'
import { readConfigFile } from '../config/file.ts'
import { loadSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import { factorKeyFile, restoreKeys } from '../core/factor-key-file.ts'
import { isMissing, readPrivate } from '../stores/key-file.ts'
import { derive } from './derive.ts'
import { openDatabase } from '../core/open-store.ts'
import { layout, openStores, schema } from '../assembly/stores.ts'
import { schemaVersion } from '../stores/migrations.ts'
import { type Command, parseArguments, UsageError } from '../core/command.ts'
import { printCopied, showProgress } from '../core/copied.ts'
import { requireAssignments } from './settings-options.ts'

export const migrateStore: Command = {
  name: 'migrate-store',
  usage: '--from FILE [--from-set KEY=VALUE]… --to FILE [--to-set KEY=VALUE]…',
  summary:
    'Copies a stopped store to another folder, database or bucket; the settings say from where and to where. The original stays as it is.',
  async run(args) {
    const { from, to } = readPlaces(args)
    keepTemporaryFilesIn(resolve(to['service.data.folder']))
    const checked = await openDatabase(from, realSystem)
    try {
      await requireUsableStore(checked, schema)
    } finally {
      await checked.close()
    }
    const source = await openStores(from, realSystem, { isExclusive: true })
    try {
      const target = await openStores(to, realSystem, { bare: true, isExclusive: true })
      try {
        const { database, blobs } = source
        const original = {
          schema: await schemaVersion(database),
          rows: rowsOf.bind(undefined, database),
          count: countRows.bind(undefined, database),
          blobs,
        }
        const keys = factorKeyFile(from)
        const progress = showProgress()
        const copied = await fillStore(original, target, layout, {
          progress,
          finish: async () => {
            await derive(target.database, progress)
            if (keys !== undefined && !(await isMissing(keys))) await restoreKeys(await readPrivate(keys), keys, to)
          },
        })
        return printCopied('The store has been copied', copied)
      } finally {
        await target.close()
      }
    } finally {
      await source.close()
    }
  },
}

const places = {
  from: { type: 'string' },
  to: { type: 'string' },
  'from-set': { type: 'string', multiple: true },
  'to-set': { type: 'string', multiple: true },
} as const

/** @throws {UsageError} @throws {StartupError} */
function readPlaces(args: readonly string[]): { readonly from: Settings; readonly to: Settings } {
  const { values } = parseArguments(args, places, false)
  const { from, to, 'from-set': fromSet = [], 'to-set': toSet = [] } = values
  if (from === undefined && fromSet.length === 0)
    throw new UsageError('Name the store to copy: --from FILE or --from-set KEY=VALUE is missing.')
  if (to === undefined && toSet.length === 0)
    throw new UsageError('Name the place for the copy: --to FILE or --to-set KEY=VALUE is missing.')
  requireAssignments('--from-set', fromSet)
  requireAssignments('--to-set', toSet)
  return { from: read(from, fromSet), to: read(to, toSet) }
}

/** `./service.properties` is not the default here, because it would be the same for both. */
function read(name: string | undefined, overrides: readonly string[]): Settings {
  const file = name === undefined ? undefined : readConfigFile(name, readEnvironment())
  return loadSettings({ file, overrides }).settings
}
