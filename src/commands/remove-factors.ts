import { Audit } from '../accounts/audit.ts'
import { removeFactorsOf } from '../accounts/factors/factor-rows.ts'
import { findUserByName, normaliseName } from '../accounts/users.ts'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import { schema, openDatabase } from '../assembly/stores.ts'
import { requireCurrent } from '../stores/migrations.ts'
import { type Command, print, printError, UsageError } from './command.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const removeFactors: Command = {
  name: 'remove-factors',
  usage: `NAME ${settingsUsage}`,
  summary: 'Removes the second factors of a user who has lost them, also while the service runs.',
  async run([name, ...args]) {
    if (name === undefined || name.startsWith('-'))
      throw new UsageError('Name the user whose second factors are removed.')
    const { settings } = readSettings(args).loaded
    const database = await openDatabase(settings, realSystem)
    try {
      await requireCurrent(database, schema)
      const user = await findUserByName(database, normaliseName(name))
      if (!user) {
        printError(`stowage remove-factors: there is no user "${name}"`)
        return 1
      }
      const removed = await database.transaction(tx => removeFactorsOf(tx, user.id))
      const machine = { system: realSystem, log: createLog(settings['service.log.level']) }
      const audit = new Audit(database, machine, settings['service.audit.retention'])
      for (const { id, kind, name } of removed) {
        const detail = { factor: id, kind, name, by: 'command' }
        await audit.record({ event: 'factor-removed', userId: user.id, userName: user.name, detail })
      }
      print(`Second factors of ${user.name} removed: ${removed.length}.`)
      return 0
    } finally {
      await database.close()
    }
  },
}
