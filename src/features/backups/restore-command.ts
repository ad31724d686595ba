import { fillStore } from '../../backup/store-copy.ts'
import { StartupError } from '../../base/errors.ts'
import {
  type Command,
  parseArguments,
  print,
  type Program,
  settingsOptions,
  settingsUsage,
  UsageError,
} from '../../core/command.ts'
import { printCopied, showProgress } from '../../core/copied.ts'
import { restoreKeys } from '../../core/factor-key-file.ts'
import { ACCESS_COMES_BACK } from './lost-files.ts'
import { withBackup } from './backup-place.ts'
import { withBackupSettings } from './settings.ts'
import { restorePart, type RestoreSelection } from './restore-part.ts'

const options = {
  ...settingsOptions,
  at: { type: 'string' },
  identity: { type: 'string' },
  context: { type: 'string' },
  entry: { type: 'string' },
  replace: { type: 'boolean' },
  'accept-changed': { type: 'boolean' },
} as const

export const restoreCommand = (program: Program): Command => ({
  name: 'restore',
  usage: `PLACE [--context ID | --entry CONTEXT/ID] [--replace] [--at TIME] [--accept-changed] [--identity FILE] ${settingsUsage}`,
  summary:
    'Fills an empty store from a backup, and goes on where it was cut off; or brings one context or entry back into a store, also while the service runs.',
  async run(args) {
    const { place, values } = read(args)
    const settings = withBackupSettings(program.settingsFrom({ config: values.config, set: values.set }))
    const selection = selectionOf(values)
    const { layout } = program
    const { at, identity, 'accept-changed': acceptsChanged = false } = values
    const chosen = { layout, at, identity, acceptsChanged }
    return await withBackup(settings, place, chosen, async backup => {
      if (backup.doubt !== undefined) print(backup.doubt)
      if (selection) return await restorePart(program, settings, backup, selection)
      const { created, source, keys } = backup
      const target = await program.openTarget(settings)
      try {
        let lostKeys: string | undefined
        const copied = await fillStore(source, target, layout, {
          progress: showProgress(),
          finish: async () => {
            try {
              const text = await keys()
              if (text !== undefined) await restoreKeys(text, `the backup in ${place}`, settings)
            } catch (error) {
              // Everything else is there, and its users still have recovery codes.
              if (!(error instanceof StartupError)) throw error
              lostKeys = error.message
            }
          },
        })
        const status = printCopied(`The store is as it was on ${created}`, copied, 'backup')
        if (status !== 0) print(adviceOnDamage(place))
        if (lostKeys === undefined) return status
        print(
          `The keys of authenticator apps did not come back: ${lostKeys} Users of such an app need a recovery code.`,
        )
        return 1
      } finally {
        await target.close()
      }
    })
  },
})

/** What comes next after a restore that has left damaged files out. */
const adviceOnDamage = (place: string): string =>
  'The restore has ended, and everything but these files is there: do not run it again, but put the store in place and start it. ' +
  `If another backup has their bytes, bring back each entry with \`stowage restore ${place} --entry CONTEXT/ID --replace --at TIME\`. ` +
  ACCESS_COMES_BACK

/** What `--context` or `--entry` names; `undefined` for a whole store. @throws {UsageError} */
function selectionOf({ context, entry, replace = false }: Values): RestoreSelection | undefined {
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
  if (place === undefined) throw new UsageError('The folder or address of the backup is missing.')
  if (more.length > 0) throw new UsageError(`Name one backup, not ${parsed.positionals.join(' and ')}.`)
  return { place, values: parsed.values }
}
