import { requireUsableStore } from '../backup/store-copy.ts'
import { NoStore } from '../base/errors.ts'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import { readEnvironment } from '../config/environment.ts'
import type { Settings } from '../config/settings.ts'
import { Changes } from '../content/changes.ts'
import { Revisions } from '../content/revisions.ts'
import { Garbage } from '../files/garbage.ts'
import type { Database } from '../stores/database.ts'
import { DependencyCache } from '../stores/dependency-cache.ts'
import { features } from '../features/features.ts'
import { createAccounts } from '../assembly/accounts.ts'
import { createContent } from '../assembly/content.ts'
import { capacity } from '../assembly/ephemeral-capacity.ts'
import { openEphemeralStores } from '../core/ephemeral-stores.ts'
import { createFiles } from '../assembly/files.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'
import { makeStore } from './make-store.ts'
import { createLedger } from '../assembly/ledger.ts'
import { archiveTranslator } from '../assembly/translate-archive.ts'
import { openBlobs, openDatabase } from '../core/open-store.ts'
import { OperatorAudit } from '../core/operator-audit.ts'
import { operatorOf } from '../core/operator-users.ts'
import { schema } from '../assembly/stores.ts'
import { version } from '../core/version.ts'

const CACHE_BYTES = 2 ** 20

/** The services of an existing store for a person at the command line, also while a service uses it. */
export type OperatorStore = Awaited<ReturnType<typeof openStore>>

/**
 * Opens the store, does the work and closes it.
 * @param options.makesStore whether a store is made where there is none
 * @throws {StartupError} without a store of this version
 */
export async function withStore<T>(
  settings: Settings,
  work: (store: OperatorStore) => Promise<T>,
  { makesStore = false } = {},
): Promise<T> {
  const database = await openDatabase(settings, realSystem).catch(async (error: unknown) => {
    if (!makesStore || !(error instanceof NoStore)) throw error
    await makeStore(settings, operatorMachine(settings))
    return await openDatabase(settings, realSystem)
  })
  try {
    await requireUsableStore(database, schema)
    const store = await openStore(settings, database)
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  } finally {
    await database.close()
  }
}

function operatorMachine(settings: Settings): RuntimeEnvironment {
  const { tokenKey } = readEnvironment()
  const log = createLog(settings['service.log.level'])
  return { system: realSystem, log, adminPassword: undefined, tokenKey, version }
}

async function openStore(settings: Settings, database: Database) {
  const machine = operatorMachine(settings)
  const { system, log } = machine
  const caller = await operatorOf(database)
  const blobs = await openBlobs(settings)
  const ephemeralStores = await openEphemeralStores(settings, machine, { database, capacity })
  const ledger = createLedger(settings, database, system)
  const garbage = new Garbage(database, blobs, ledger, system)
  const cache = new DependencyCache(database, CACHE_BYTES, system)
  const audit = new OperatorAudit(database, { system, log })
  const accounts = await createAccounts(settings, machine, { ...ephemeralStores, database, cache, audit })
  const files = createFiles(settings, machine, { database, blobs, disk: undefined, ledger, garbage })
  for (const feature of features) feature.openForCommand({ settings, system, log, audit, blobs, files })
  const revisions = new Revisions(settings['service.repository.provenance'])
  const requireFresh = (): void => {}
  const changes = new Changes({ database, system, audit, revisions, requireFresh })
  const shared = {
    ...accounts,
    files,
    settings,
    system,
    log,
    database,
    blobs,
    cache,
    changes,
    revisions,
    ledger,
    garbage,
    translateArchive: archiveTranslator(system),
  }
  return {
    ...shared,
    ...createContent(settings, shared),
    caller,
    /** Whether this process sees the sessions of the service. */
    seesSessions: settings['service.auth.token.store'] !== 'memory',
    async close() {
      await files.settled()
      await accounts.passwords.close()
      accounts.passwordRules.close()
      await ephemeralStores.close()
      await blobs.close()
    },
  }
}
