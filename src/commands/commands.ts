import { commit, version as programVersion } from '../core/version.ts'
import { features } from '../features/features.ts'
import { realSystem } from '../base/system.ts'
import { editDistance } from '../config/key-pattern.ts'
import { type Command, parseArguments, print, type Program } from '../core/command.ts'

const version: Command = {
  name: 'version',
  usage: '',
  summary: 'Prints the version, and in a package the commit from which it was built.',
  run: async args => {
    parseArguments(args, {}, false)
    print(commit === undefined ? programVersion : `${programVersion} (${commit})`)
    return 0
  },
}

const help: Command = {
  name: 'help',
  usage: '',
  summary: 'Prints this. `stowage COMMAND --help` prints how to call one command.',
  run: async args => {
    parseArguments(args, {}, false)
    print(await usage())
    return 0
  },
}

/** For commands outside this folder. Loaded when one of them is used. */
async function program(): Promise<Program> {
  const { layout, openStores } = await import('../assembly/stores.ts')
  const { settingsFrom } = await import('./settings-options.ts')
  const { contextQuota } = await import('../assembly/ledger.ts')
  return {
    version: programVersion,
    commit,
    layout,
    settingsFrom: options => settingsFrom(options).loaded.settings,
    withStore: async (...given) => (await import('./store-for-commands.ts')).withStore(...given),
    contextQuota,
    effectiveSettings: async options =>
      (await import('../config/describe.ts')).effectiveSettings(settingsFrom(options).loaded),
    runChecks: async options => {
      const { loaded, file, environment } = settingsFrom(options)
      const { runChecks } = await import('../assembly/doctor.ts')
      return await runChecks({ ...loaded, file, tokenKey: environment.tokenKey, version: programVersion })
    },
    openTarget: settings => openStores(settings, realSystem, { bare: true, isExclusive: true }),
    derive: async (database, progress) => (await import('./derive.ts')).derive(database, progress),
  }
}

/** Every verb there is. Its code is loaded when it is used: a start of the service needs none of the others. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async () => (await import('./serve.ts')).serve],
  ['demo', async () => (await import('./demo.ts')).demo],
  ['config', async () => (await import('./config.ts')).config],
  ['health', async () => (await import('./health.ts')).health],
  ['fsck', async () => (await import('./fsck.ts')).fsck],
  ...features
    .flatMap(({ commands }) => Object.entries(commands))
    .map(([name, load]) => [name, async () => load(await program())] as const),
  ['migrate-store', async () => (await import('./migrate-store.ts')).migrateStore],
  ['import', async () => (await import('../../migration/import.ts')).importCommand(await program())],
  ['unlock', async () => (await import('./unlock.ts')).unlock],
  ['user', async () => (await import('./user.ts')).user],
  ['version', async () => version],
  ['help', async () => help],
])

export const findCommand = async (name: string): Promise<Command | undefined> => await commands.get(name)?.()

/** A command whose name differs in at most two letters. */
export const nearestCommand = (name: string): string | undefined =>
  [...commands.keys()].find(known => Math.abs(known.length - name.length) <= 2 && editDistance(name, known) <= 2)

export async function usage(): Promise<string> {
  const all = await Promise.all([...commands.values()].map(load => load()))
  return [
    'usage: stowage COMMAND',
    '',
    ...all.flatMap(({ name, usage, summary }) => [`  ${name} ${usage}`.trimEnd(), `      ${summary}`]),
    '',
    'Settings come from --set, then from environment variables, then from the file named by --config or SERVICE_CONFIG,',
    'else ./service.properties.',
  ].join('\n')
}
