import { requireUsableStore } from '../backup/store-copy.ts'
import { findUserByName, liftLockout, normaliseName } from '../accounts/users.ts'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import { openDatabase } from '../core/open-store.ts'
import { OperatorAudit } from '../core/operator-audit.ts'
import { schema } from '../assembly/stores.ts'
import { type Command, print, printError, settingsUsage, UsageError } from '../core/command.ts'
import { readSettings } from './settings-options.ts'

export const unlock: Command = {
  name: 'unlock',
  usage: `NAME ${settingsUsage}`,
  summary: 'Lifts the lockout of a user, also while the service runs.',
  async run([name, ...args]) {
    if (name === undefined || name.startsWith('-')) throw new UsageError('The name of the user to unlock is missing.')
    const { loaded } = readSettings(args)
    const { settings } = loaded
    const database = await openDatabase(settings, realSystem)
    try {
      await requireUsableStore(database, schema)
      const user = await findUserByName(database, normaliseName(name))
      if (!user) {
        printError(`stowage unlock: there is no user "${name}"`)
        return 1
      }
      await liftLockout(database, user.id)
      const machine = { system: realSystem, log: createLog(settings['service.log.level']) }
      const audit = new OperatorAudit(database, machine)
      await audit.record({ event: 'unlocked', userId: user.id, userName: user.name })
      print(`The wrong passwords of ${user.name} are forgotten.`)
      return 0
    } finally {
      await database.close()
    }
  },
}
