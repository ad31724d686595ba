import { Audit, type AuditEntry } from '../accounts/audit.ts'
import type { Caller } from '../accounts/caller.ts'
import { ADMIN, findUser } from '../accounts/users.ts'
import { requireCompleteStore } from '../backup/store-copy.ts'
import { StartupError } from '../base/errors.ts'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import { readEnvironment } from '../config/environment.ts'
import type { Settings } from '../config/settings.ts'
import { Changes } from '../content/changes.ts'
import { Revisions } from '../content/revisions.ts'
import { Garbage } from '../files/garbage.ts'
import { Ledger } from '../files/quota-ledger.ts'
import type { Database, Queries } from '../stores/database.ts'
import { DependencyCache } from '../stores/dependency-cache.ts'
import { requireCurrent } from '../stores/migrations.ts'
import { createAccounts } from './accounts.ts'
import { createContent } from './content.ts'
import { openEphemeralStores } from './ephemeral-stores.ts'
import { createFiles } from './files.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { quotaOptions } from './quota.ts'
import { openBlobs, openDatabase, schema } from './stores.ts'
import { version } from './version.ts'

const CACHE_BYTES = 2 ** 20

/** Rows of the audit log name the command line, not the user whose rights it has. */
class OperatorAudit extends Audit {
  override async insert(tx: Queries, entry: AuditEntry): Promise<void> {
    await super.insert(tx, byCommand(entry))
  }

  override announce(entry: AuditEntry): void {
    super.announce(byCommand(entry))
  }
}

const byCommand = ({ actorId: _actor, address: _address, detail, ...entry }: AuditEntry): AuditEntry => ({
  ...entry,
  detail: { ...detail, by: 'command' },
})

/** The services of an existing store for a person at the command line, also while a service uses it. */
export type OperatorStore = Awaited<ReturnType<typeof openStore>>

/** Opens the store, does the work and closes it. @throws {StartupError} without a store of this version */
export async function withStore<T>(settings: Settings, work: (store: OperatorStore) => Promise<T>): Promise<T> {
  const database = await openDatabase(settings, realSystem)
  try {
    await requireCurrent(database, schema)
    await requireCompleteStore(database)
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

async function openStore(settings: Settings, database: Database) {
  const system = realSystem
  const { tokenKey } = readEnvironment()
  const log = createLog(settings['service.log.level'])
  const machine: RuntimeEnvironment = { system, log, adminPassword: undefined, tokenKey, version }
  const caller = await operatorOf(database)
  const blobs = await openBlobs(settings)
  const ephemeralStores = await openEphemeralStores(settings, machine, database)
  const ledger = new Ledger(database, system, quotaOptions(settings))
  const garbage = new Garbage(database, blobs, ledger, system)
  const cache = new DependencyCache(database, CACHE_BYTES, system)
  const audit = new OperatorAudit(database, { system, log }, settings['service.audit.retention'])
  const accounts = await createAccounts(settings, machine, { ...ephemeralStores, database, cache, audit })
  const files = createFiles(settings, machine, { database, blobs, disk: undefined, audit, ledger, garbage })
  const revisions = new Revisions(settings['service.repository.provenance'])
  const requireFresh = (): void => {}
  const changes = new Changes({ database, system, audit, revisions, requireFresh })
  const shared = { ...accounts, ...files, database, cache, changes, revisions, ledger, system }
  return {
    ...shared,
    ...createContent(settings, shared),
    caller,
    /** Whether this process sees the sessions of the service. */
    seesSessions: settings['service.auth.token.store'] !== 'memory',
    async close() {
      await files.files.settled()
      await accounts.mails?.close()
      await accounts.passwords.close()
      accounts.breachedPasswords?.close()
      await ephemeralStores.close()
      await blobs.close()
    },
  }
}

/** The caller with all rights. @throws {StartupError} in an empty store */
export async function operatorOf(database: Database): Promise<Caller> {
  const user = await findUser(database, ADMIN)
  if (!user) throw new StartupError('The store is empty. Start the service once: it makes the first users.')
  return { user, groups: new Set(), client: { address: '', userAgent: '' }, isOperator: true }
}
