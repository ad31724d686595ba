import type { Settings } from '../config/settings.ts'
import { Changes } from '../content/changes.ts'
import { Revisions } from '../content/revisions.ts'
import { initialise } from '../content/setup/initialise.ts'
import { createPasswords } from '../assembly/accounts.ts'
import { dataPlace } from '../core/data-folder.ts'
import { warnOfNewStore } from '../core/lost-store.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'
import { OperatorAudit } from '../core/operator-audit.ts'
import { createLedger } from '../assembly/ledger.ts'
import { openStores } from '../assembly/stores.ts'
import { requireUsable } from '../assembly/usable-settings.ts'

/** Makes a store with its first users, as the first start of a service does, for a command. @throws {StartupError} */
export async function makeStore(settings: Settings, machine: RuntimeEnvironment): Promise<void> {
  await requireUsable(settings, machine)
  const stores = await openStores(settings, machine.system)
  const passwords = await createPasswords(settings, machine)
  try {
    const { database, folder } = stores
    const audit = new OperatorAudit(database, machine)
    const revisions = new Revisions(settings['service.repository.provenance'])
    const changes = new Changes({ ...machine, database, audit, revisions, requireFresh: () => {} })
    const ledger = createLedger(settings, database, machine.system)
    const withTestData = settings['service.repository.store.init-with-test-data']
    const isNew = await database.withExclusiveLock(() =>
      initialise({ database, changes, ledger, withTestData, passwords }),
    )
    if (isNew) await warnOfNewStore(settings, machine.log, dataPlace(settings, folder))
  } finally {
    await passwords.close()
    await stores.close()
  }
}
