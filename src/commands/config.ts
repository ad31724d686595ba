import { showSettings } from '../config/describe.ts'
import { type Command, print, printError, UsageError } from './command.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const config: Command = {
  name: 'config',
  usage: `check [--strict] ${settingsUsage}\n       config show [--all] ${settingsUsage}`,
  summary: 'Checks the settings, or shows those in force and where each comes from.',
  async run([verb, ...args]) {
    if (verb === 'check') return check(args)
    if (verb === 'show') return show(args)
    throw new UsageError('Say `config check` or `config show`.')
  },
}

function check(args: readonly string[]): number {
  const { loaded, has } = readSettings(args, ['strict'])
  for (const warning of loaded.warnings) printError(`warning: ${warning}`)
  const refused = has('strict') && loaded.unknownKeys.length > 0
  print(refused ? 'The settings hold unknown keys.' : 'The settings are good.')
  return refused ? 1 : 0
}

function show(args: readonly string[]): number {
  const { loaded, has } = readSettings(args, ['all'])
  const shown = showSettings(loaded, { all: has('all') }).trimEnd()
  print(shown === '' ? '# Every setting stands at its default; `config show --all` lists them.' : shown)
  return 0
}
