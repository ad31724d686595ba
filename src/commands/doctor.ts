import { version } from '../assembly/version.ts'
import { type Command, print } from './command.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const doctor: Command = {
  name: 'doctor',
  usage: settingsUsage,
  summary: 'Checks addresses, disk, engines, keys, other nodes and identity providers without starting the service.',
  async run(args) {
    const { loaded, file, environment } = readSettings(args)
    const { examine } = await import('../assembly/examine.ts')
    const found = await examine({ ...loaded, file, tokenKey: environment.tokenKey, version })
    for (const { level, text } of found) print(level === 'ok' ? text : `${level}: ${text}`)
    return found.some(({ level }) => level === 'problem') ? 1 : 0
  },
}
