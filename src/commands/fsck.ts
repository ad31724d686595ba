import { requireUsableStore } from '../backup/store-copy.ts'
import { realSystem } from '../base/system.ts'
import { StoreDamaged } from '../base/errors.ts'
import { fsck as check, type Finding, type FsckReport } from '../files/fsck.ts'
import { requireStore } from '../core/stores.ts'
import { schema, openStores } from '../assembly/stores.ts'
import { type Command, print, settingsUsage } from '../core/command.ts'
import { count, showProgress } from '../core/copied.ts'
import { readSettings } from './settings-options.ts'

export const fsck: Command = {
  name: 'fsck',
  usage: `[--repair [--force]] ${settingsUsage}`,
  summary: 'Checks database, fill levels and file digests while the service is stopped; --repair repairs what it can.',
  async run(args) {
    const { loaded, has } = readSettings(args, ['repair', 'force'])
    try {
      await requireStore(loaded.settings, realSystem)
      // Leaves the tables as they are.
      const stores = await openStores(loaded.settings, realSystem, { bare: true })
      try {
        await requireUsableStore(stores.database, schema)
        const found = await check(stores, has('repair'), { force: has('force'), progress: showProgress() })
        return report(found, has('repair') && !found.isDoubtful)
      } finally {
        await stores.close()
      }
    } catch (error) {
      if (!(error instanceof StoreDamaged)) throw error
      const message = error.cause instanceof Error ? error.cause.message : 'it cannot be opened'
      const finding: Finding = { kind: 'database-damaged', repairable: false, message }
      return report({ files: 0, bytes: 0, findings: [finding], isDoubtful: false }, false)
    }
  },
}

/** Prints the findings and returns the exit status. */
function report({ files, bytes, findings, isDoubtful }: FsckReport, repair: boolean): number {
  for (const { kind, message, repairable } of findings) {
    const outcome = !repairable ? 'cannot be repaired' : repair ? 'repaired' : 'repairable'
    print(`${kind}: ${message} (${outcome})`)
  }
  const open = findings.filter(finding => !(repair && finding.repairable)).length
  print(`${count(files, 'file')}, ${count(bytes, 'byte')} checked; ${count(findings.length, 'finding')}, ${open} open.`)
  if (isDoubtful) {
    print('Most stored files belong to no entry, so the database has probably lost rows. Restore a backup.')
    print('To move these files aside all the same (a bucket deletes them), run `fsck --repair --force`.')
  }
  if (findings.some(({ kind }) => kind === 'database-damaged')) {
    print(`The database is damaged, so nothing else was checked. Follow ${StoreDamaged.page}.`)
  }
  return open === 0 ? 0 : 1
}
