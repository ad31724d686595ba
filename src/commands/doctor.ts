import { lineOf, statusOf } from '../assembly/check-result.ts'
import { version } from '../assembly/version.ts'
import { type Command, print } from './command.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const doctor: Command = {
  name: 'doctor',
  usage: settingsUsage,
  summary: 'Checks addresses, disk, engines, keys, other nodes and identity providers without starting the service.',
  async run(args) {
    const { loaded, file, environment } = readSettings(args)
    const { runChecks } = await import('../assembly/doctor.ts')
    const found = await runChecks({ ...loaded, file, tokenKey: environment.tokenKey, version })
    for (const result of found) print(lineOf(result))
    return statusOf(found)
  },
}
