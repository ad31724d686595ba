import { requireFirstPassword } from '../accounts/passwords.ts'
import { requireUsable } from '../assembly/usable-settings.ts'
import { showSettings } from '../config/describe.ts'
import { requireListening } from '../http/protocol/listening.ts'
import { type Command, print, printError, settingsUsage, wrongWord } from '../core/command.ts'
import { readSettings } from './settings-options.ts'

export const config: Command = {
  name: 'config',
  usage: `check [--strict] ${settingsUsage}\n       config show [--all] ${settingsUsage}`,
  summary: 'Checks the settings, or shows those in force and where each comes from.',
  async run([verb, ...args]) {
    if (verb === 'check') return check(args)
    if (verb === 'show') return show(args)
    throw wrongWord('config', ['check', 'show'], verb)
  },
}

/** Each check is one that `serve` makes as well. */
async function check(args: readonly string[]): Promise<number> {
  const { loaded, environment, has } = readSettings(args, ['strict'])
  const { settings, warnings, unknown } = loaded
  for (const { text } of warnings) printError(`warning: ${text}`)
  await requireUsable(settings, environment)
  await requireListening(settings['service.http.host'], settings['service.http.port'])
  if (environment.adminPassword !== undefined) requireFirstPassword(environment.adminPassword)
  const isRefused = has('strict') && unknown.length > 0
  print(isRefused ? 'The settings hold unknown keys or variables.' : 'The settings are good.')
  return isRefused ? 1 : 0
}

function show(args: readonly string[]): number {
  const { loaded, has } = readSettings(args, ['all'])
  const shown = showSettings(loaded, { all: has('all') }).trimEnd()
  print(shown === '' ? '# Every setting stands at its default; `config show --all` lists them.' : shown)
  return 0
}
