import { realSystem } from '../base/system.ts'
import { fsck as check } from '../files/fsck.ts'
import { openStores, requireStore } from '../assembly/stores.ts'
import { type Command, print } from './command.ts'
import { count } from './copied.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const fsck: Command = {
  name: 'fsck',
  usage: `[--repair] ${settingsUsage}`,
  summary: 'Proves fill levels and file digests, with the service stopped; --repair puts right what can be.',
  async run(args) {
    const { loaded, has } = readSettings(args, ['repair'])
    const repair = has('repair')
    await requireStore(loaded.settings, realSystem)
    const stores = await openStores(loaded.settings, realSystem)
    try {
      const { files, bytes, findings } = await check(stores, repair)
      for (const finding of findings) {
        const outcome = !finding.repairable ? 'cannot be repaired' : repair ? 'repaired' : 'repairable'
        print(`${finding.kind}: ${finding.message} (${outcome})`)
      }
      const open = findings.filter(finding => !(repair && finding.repairable)).length
      print(
        `${count(files, 'file')}, ${count(bytes, 'byte')} checked; ${count(findings.length, 'finding')}, ${open} open.`,
      )
      return open === 0 ? 0 : 1
    } finally {
      await stores.close()
    }
  },
}
