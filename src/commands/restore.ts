import { parseArgs } from 'node:util'
import { factorKeyFile } from '../assembly/factors.ts'
import { openStores, schema } from '../assembly/stores.ts'
import { fillStore } from '../backup/store-copy.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { addKeys } from '../stores/key-file.ts'
import { withBackup } from '../assembly/backup-place.ts'
import { type Command, print, UsageError } from './command.ts'
import { printCopied, showProgress } from './copied.ts'
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
} as const

export const restore: Command = {
  name: 'restore',
  usage: `PLACE [--at TIME] [--identity FILE] ${settingsUsage}`,
  summary: 'Fills an empty store from a backup; the same again goes on where it was cut off.',
  async run(args) {
    const { place, values } = read(args)
    const { settings } = settingsFrom({ config: values.config, set: values.set }).loaded
    const chosen = { at: values.at, identity: values.identity }
    return await withBackup(settings, place, chosen, async ({ created, source, keys }) => {
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

/** @throws {UsageError} */
function read(args: readonly string[]) {
  let parsed
  try {
    parsed = parseArgs({ args: [...args], options, strict: true, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  const [place, ...more] = parsed.positionals
  if (place === undefined || more.length > 0) throw new UsageError('Say where the backup is.')
  return { place, values: parsed.values }
}
