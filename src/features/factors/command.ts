import { removeFactorsOf } from './factor-rows.ts'
import { findUserByName, normaliseName } from '../../accounts/users.ts'
import { createLog } from '../../base/log.ts'
import { realSystem } from '../../base/system.ts'
import { openDatabase } from '../../core/open-store.ts'
import { OperatorAudit } from '../../core/operator-audit.ts'
import { requireUsableStore } from '../../backup/store-copy.ts'
import {
  type Command,
  parseArguments,
  print,
  printError,
  type Program,
  settingsOptions,
  settingsUsage,
  UsageError,
} from '../../core/command.ts'

export const removeFactors = ({ layout, settingsFrom }: Program): Command => ({
  name: 'remove-factors',
  usage: `NAME ${settingsUsage}`,
  summary: 'Removes the second factors of a user who has lost them, also while the service runs.',
  async run([name, ...args]) {
    if (name === undefined || name.startsWith('-'))
      throw new UsageError('Name the user whose second factors are removed.')
    const { config, set } = parseArguments(args, settingsOptions, false).values
    const settings = settingsFrom({ config, set })
    const database = await openDatabase(settings, realSystem)
    try {
      await requireUsableStore(database, layout.steps)
      const user = await findUserByName(database, normaliseName(name))
      if (!user) {
        printError(`stowage remove-factors: there is no user "${name}"`)
        return 1
      }
      const removed = await database.transaction(tx => removeFactorsOf(tx, user.id))
      const machine = { system: realSystem, log: createLog(settings['service.log.level']) }
      const audit = new OperatorAudit(database, machine)
      for (const { id, kind, name } of removed) {
        const detail = { factor: id, kind, name }
        await audit.record({ event: 'factor-removed', userId: user.id, userName: user.name, detail })
      }
      print(`Second factors of ${user.name} removed: ${removed.length}.`)
      return 0
    } finally {
      await database.close()
    }
  },
})
