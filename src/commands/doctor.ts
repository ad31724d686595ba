import { lineOf, statusOf } from '../assembly/diagnosis.ts'
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
    for (const diagnosis of found) print(lineOf(diagnosis))
    return statusOf(found)
  },
}
