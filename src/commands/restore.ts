import { factorKeyFile } from '../assembly/factors.ts'
import { openStores, schema } from '../assembly/stores.ts'
import { fillStore } from '../backup/store-copy.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { addKeys } from '../stores/key-file.ts'
import { withBackup } from '../assembly/backup-place.ts'
import { type Command, parseArguments, print, UsageError } from './command.ts'
import { printCopied, showProgress } from './copied.ts'
import { restorePart, type WantedPart } from './restore-part.ts'
import { settingsFrom, settingsUsage } from './settings-options.ts'

/** Without these keys, users could not sign in with their authenticator apps. @param from describes where they are */
export async function restoreKeys(text: string, from: string, settings: Settings): Promise<void> {
  const to = factorKeyFile(settings)
  if (to !== undefined) await addKeys(text, to)
  else print(`Add the keys in ${from} to those of sessions: they seal the secrets of authenticator apps.`)
}

const options = {
  config: { type: 'string' },
  set: { type: 'string', multiple: true },
  at: { type: 'string' },
  identity: { type: 'string' },
  context: { type: 'string' },
  entry: { type: 'string' },
  replace: { type: 'boolean' },
} as const

export const restore: Command = {
  name: 'restore',
  usage: `PLACE [--context ID | --entry CONTEXT/ID] [--replace] [--at TIME] [--identity FILE] ${settingsUsage}`,
  summary:
    'Fills an empty store from a backup, and goes on where it was cut off; or brings one context or entry back into a store, also while the service runs.',
  async run(args) {
    const { place, values } = read(args)
    const { settings } = settingsFrom({ config: values.config, set: values.set }).loaded
    const part = partOf(values)
    const chosen = { at: values.at, identity: values.identity }
    return await withBackup(settings, place, chosen, async backup => {
      if (part) return await restorePart(settings, backup, part)
      const { created, source, keys } = backup
      const stores = await openStores(settings, realSystem, { bare: true, isExclusive: true })
      try {
        const copied = await fillStore(source, stores, schema, {
          progress: showProgress(),
          finish: async () => {
            const text = await keys()
            if (text !== undefined) await restoreKeys(text, `the backup in ${place}`, settings)
          },
        })
        return printCopied(`The store is as it was on ${created}`, copied)
      } finally {
        await stores.close()
      }
    })
  },
}

/** What `--context` or `--entry` names; `undefined` for a whole store. @throws {UsageError} */
function partOf({ context, entry, replace = false }: Values): WantedPart | undefined {
  if (context !== undefined && entry !== undefined) throw new UsageError('Give either --context or --entry.')
  if (context !== undefined) return { context, entry: undefined, replaces: replace }
  if (entry === undefined) {
    if (replace) throw new UsageError('--replace needs --context or --entry.')
    return undefined
  }
  const [, of = '', id = ''] = /^([^/]+)\/([^/]+)$/.exec(entry) ?? []
  if (id === '') throw new UsageError('--entry is written CONTEXT/ID, as in photos/one.')
  return { context: of, entry: id, replaces: replace }
}

type Values = ReturnType<typeof read>['values']

/** @throws {UsageError} */
function read(args: readonly string[]) {
  const parsed = parseArguments(args, options)
  const [place, ...more] = parsed.positionals
  if (place === undefined || more.length > 0) throw new UsageError('Say where the backup is.')
  return { place, values: parsed.values }
}
