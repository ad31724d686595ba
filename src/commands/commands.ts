import { commit, version as programVersion } from '../assembly/version.ts'
import { type Command, print } from './command.ts'

const version: Command = {
  name: 'version',
  usage: '',
  summary: 'Prints the version, and in a package the commit from which it was built.',
  run: async () => {
    print(commit === undefined ? programVersion : `${programVersion} (${commit})`)
    return 0
  },
}

const help: Command = {
  name: 'help',
  usage: '',
  summary: 'Prints this.',
  run: async () => {
    print(await usage())
    return 0
  },
}

/** Every verb there is. Its code is loaded when it is used: a start of the service needs none of the others. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async () => (await import('./serve.ts')).serve],
  ['config', async () => (await import('./config.ts')).config],
  ['health', async () => (await import('./health.ts')).health],
  ['doctor', async () => (await import('./doctor.ts')).doctor],
  ['fsck', async () => (await import('./fsck.ts')).fsck],
  ['backup', async () => (await import('./backup.ts')).backup],
  ['restore', async () => (await import('./restore.ts')).restore],
  ['migrate-store', async () => (await import('./migrate-store.ts')).migrateStore],
  ['import', async () => (await import('./import.ts')).importCommand],
  ['unlock', async () => (await import('./unlock.ts')).unlock],
  ['remove-factors', async () => (await import('./remove-factors.ts')).removeFactors],
  ['user', async () => (await import('./user.ts')).user],
  ['usage', async () => (await import('./usage.ts')).usage],
  ['context', async () => (await import('./context.ts')).context],
  ['quota', async () => (await import('./quota.ts')).quota],
  ['token', async () => (await import('./token.ts')).token],
  ['session', async () => (await import('./session.ts')).session],
  ['audit', async () => (await import('./audit.ts')).audit],
  ['breached-passwords', async () => (await import('./breached-passwords.ts')).breachedPasswords],
  ['version', async () => version],
  ['help', async () => help],
])

export const findCommand = async (name: string): Promise<Command | undefined> => await commands.get(name)?.()

export async function usage(): Promise<string> {
  const all = await Promise.all([...commands.values()].map(load => load()))
  return [
    'usage: stowage COMMAND',
    '',
    ...all.flatMap(({ name, usage, summary }) => [`  ${name} ${usage}`.trimEnd(), `      ${summary}`]),
    '',
    'The settings come from --set, then from the file named by --config or SERVICE_CONFIG, else ./service.properties.',
  ].join('\n')
}
