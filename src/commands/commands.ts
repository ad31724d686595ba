import { version as programVersion } from '../assembly/version.ts'
import { type Command, print } from './command.ts'
import { backup } from './backup.ts'
import { breachedPasswords } from './breached-passwords.ts'
import { config } from './config.ts'
import { doctor } from './doctor.ts'
import { fsck } from './fsck.ts'
import { importCommand } from './import.ts'
import { migrateStore } from './migrate-store.ts'
import { removeFactors } from './remove-factors.ts'
import { restore } from './restore.ts'
import { serve } from './serve.ts'
import { unlock } from './unlock.ts'

const version: Command = {
  name: 'version',
  usage: '',
  summary: 'Prints the version.',
  run: async () => {
    print(programVersion)
    return 0
  },
}

const help: Command = {
  name: 'help',
  usage: '',
  summary: 'Prints this.',
  run: async () => {
    print(usage())
    return 0
  },
}

/** Every verb there is. */
export const commands: readonly Command[] = [
  serve,
  config,
  doctor,
  fsck,
  backup,
  restore,
  migrateStore,
  importCommand,
  unlock,
  removeFactors,
  breachedPasswords,
  version,
  help,
]

export const usage = (): string =>
  [
    'usage: stowage COMMAND',
    '',
    ...commands.flatMap(({ name, usage, summary }) => [`  ${name} ${usage}`.trimEnd(), `      ${summary}`]),
    '',
    'The settings come from --set, then from the file named by --config or SERVICE_CONFIG, else ./service.properties.',
  ].join('\n')
