import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Audit } from '../accounts/audit.ts'
import { hashFirstAdminPassword, setFirstAdminPassword } from '../accounts/passwords.ts'
import { ADMIN, findUser } from '../accounts/users.ts'
import { requireCompleteStore } from '../backup/store-copy.ts'
import type { Settings } from '../config/settings.ts'
import { buildMissingRelations, Changes } from '../content/changes.ts'
import { findEntry } from '../content/entry-records.ts'
import { hashTestPasswords, initialise } from '../content/setup/initialise.ts'
import { Revisions } from '../content/revisions.ts'
import { CatchUp } from '../search/catch-up.ts'
import { Scrubber } from '../files/scrubber.ts'
import { Garbage } from '../files/garbage.ts'
import { Ledger } from '../files/quota-ledger.ts'
import { GraphReader } from '../graph/graph-reader.ts'
import { createApp } from '../http/app.ts'
import { History } from '../http/history.ts'
import { listen } from '../http/protocol/listening.ts'
import { Metrics } from '../http/metrics.ts'
import { Readiness } from '../http/readiness.ts'
import { SlowRequests } from '../http/slow-requests.ts'
import { ServiceAddress } from '../http/base-address.ts'
import { JOBS_INTERVAL, ScheduledJobs } from '../base/scheduled-jobs.ts'
import { createContentOrigin, createProxy, httpOptions } from './http.ts'
import { createAdminDiagnostics } from './admin-diagnostics.ts'
import { type LivePart, LiveSettings } from './live-settings.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { Reloader } from './reload.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { type EphemeralStores, openEphemeralStores } from './ephemeral-stores.ts'
import { joinAsNode, type Node } from './node.ts'
import { createSso } from './sso.ts'
import { dataPlace, makeRoomForStart, openDisk } from './disk.ts'
import { createContent } from './content.ts'
import { createFiles } from './files.ts'
import { openStores, requireHealthy, requireIntact, type Stores } from './stores.ts'
import { createQuotaMails, quotaOptions } from './quota.ts'
import { createBackups } from './backups.ts'
import { startTelemetry } from './telemetry.ts'
import { createReaders } from './readers.ts'
import { loggedUpgrade } from './schema-upgrade.ts'
import { shareMailOptions } from './share-mails.ts'
import { loadUi } from './ui.ts'
import { pruneChangeLog } from '../stores/change-log.ts'
import { DependencyCache } from '../stores/dependency-cache.ts'
import type { Database } from '../stores/database.ts'
import type { DiskSpace } from '../stores/disk.ts'
import { ping } from '../stores/sql.ts'
import { StorageUsage } from '../files/storage-usage.ts'

/** For frequently requested users, access lists and entries. */
const CACHE_BYTES = 16 * 2 ** 20

export interface Server {
  /** Resolves to the base address when requests are served. */
  listen(): Promise<string>
  /** From this call on the service reports that it is not ready, and still serves. */
  drain(): void
  /** Reads the settings again; the outcome is in the log. */
  reload(): Promise<void>
  /** Drains, lets requests in progress finish, then closes everything. */
  close(): Promise<void>
  /** False while admin has no way to sign in. */
  readonly adminHasPassword: boolean
  /** Where rows and files are kept, for people. */
  readonly dataPlace: string
}

/**
 * Assembles the program. This is the only place that chooses drivers and turns settings into the options of
 * each module.
 */
export async function createServer(loaded: Settings, machine: RuntimeEnvironment): Promise<Server> {
  const live = new LiveSettings(loaded)
  const { settings } = live
  let stores: Stores | undefined
  let ephemeralStores: EphemeralStores | undefined
  try {
    await makeRoomForStart(settings, machine.log)
    const during = loggedUpgrade(machine.log, machine.system)
    stores = await openStores(settings, machine.system, { during })
    await requireCompleteStore(stores.database)
    await requireIntact(stores.database)
    ephemeralStores = await openEphemeralStores(settings, machine, stores.database)
    const node = await joinAsNode(settings, machine, stores, ephemeralStores)
    const disk = await openDisk(settings, machine.log)
    const parts = await assemble(settings, machine, { stores, ephemeralStores, node, disk })
    return serverOf(live, machine, parts)
  } catch (error) {
    await ephemeralStores?.close()
    await stores?.close()
    throw error
  }
}

interface Opened {
  readonly stores: Stores
  readonly ephemeralStores: EphemeralStores
  readonly node: Node
  /** Absent when the data folder is not used. */
  readonly disk: DiskSpace | undefined
}

type Parts = Awaited<ReturnType<typeof assemble>>

async function assemble(settings: Settings, machine: RuntimeEnvironment, opened: Opened) {
  const { stores, ephemeralStores, disk } = opened
  const { database, blobs } = stores
  const { system, log } = machine
  const ledger = new Ledger(database, system, quotaOptions(settings))
  const garbage = new Garbage(database, blobs, ledger, system)
  const cache = new DependencyCache(database, CACHE_BYTES, system)
  const audit = new Audit(database, { system, log }, settings['service.audit.retention'])
  const accounts = await createAccounts(settings, machine, { ...ephemeralStores, database, cache, audit })
  const ui = await loadUi()
  const address = new ServiceAddress(settings['service.baseurl.folder'])
  const { virusScan, files, resumableFiles, stagedImports } = createFiles(settings, machine, {
    database,
    blobs,
    disk,
    audit,
    ledger,
    garbage,
    quotaMails: createQuotaMails(accounts.mails, { database, ui, address }),
  })
  const catchUp = new CatchUp(database, findEntry, log)
  const revisions = new Revisions(settings['service.repository.provenance'])
  const { stepUp } = accounts
  const changes = new Changes({
    database,
    system,
    audit,
    revisions,
    requireFresh: stepUp.requireFresh.bind(stepUp),
  })
  // If no other process uses the store, a crash has interrupted every upload on record. What cannot be deleted now is tried again.
  if (stores.isExclusive) await resumableFiles.recover()
  await garbage.recover(stores.isExclusive).catch((err: unknown) => log.error({ err }, 'deleting old files failed'))
  await database.withExclusiveLock(() =>
    prepareStore(settings, machine, { ...accounts, database, changes, ledger, catchUp }),
  )
  const readers = createReaders(settings, () => address.base.href)
  const content = createContent(settings, {
    ...accounts,
    database,
    cache,
    changes,
    revisions,
    files,
    resumableFiles,
    stagedImports,
    ledger,
    system,
    shareMails: { ...shareMailOptions(ui, address), ephemeral: ephemeralStores.ephemeral },
  })
  const sso = await createSso(settings, machine, {
    ...accounts,
    ...ephemeralStores,
    database,
    changes,
    base: () => address.base,
  })
  const graphs = new GraphReader({
    limits: {
      maxStatements: settings['service.repository.max-statements'],
      maxSize: settings['service.http.json.max-size'],
    },
  })
  const backups = await createBackups(settings, machine, { database, mails: accounts.mails, ui, address })
  const storageUsage = new StorageUsage(database, system, ledger)
  const scrubber = new Scrubber({ database, blobs, system, log }, { interval: settings['service.data.scrub-interval'] })
  const metrics = new Metrics({
    ...accounts,
    catchUp,
    files,
    storageUsage,
    disk,
    scrubber,
    virusScan,
    backups: backups?.runs,
    system,
  })
  const insight = createAdminDiagnostics(settings, machine)
  const history = new History({ metrics, storageUsage, system })
  const telemetry = await startTelemetry(machine, metrics)
  const readiness = new Readiness({
    database: () => Promise.all([database.get(ping), database.requireWritable()]),
    ...(disk ? { disk: () => requireHealthy(disk) } : {}),
  })
  const app = createApp(
    {
      ...accounts,
      ...content,
      get sso() {
        return sso.current
      },
      database,
      cache,
      files,
      ledger,
      graphs,
      readers,
      metrics,
      history,
      slowRequests: new SlowRequests(log, () => settings['service.log.slow']),
      tracing: telemetry?.requests,
      insight,
      readiness,
      backups: backups?.runs,
      // Rows on a database server take no space on this disk.
      requireSpace: settings['service.repository.store.url'] === undefined ? disk?.requireSpace.bind(disk) : undefined,
      checkDisk: () => void disk?.check(),
      ui,
      proxy: createProxy(settings, machine),
      contentOrigin: createContentOrigin(settings, machine, ephemeralStores),
      system,
      log,
    },
    httpOptions(settings, machine, address),
  )
  const admin = await findUser(database, ADMIN)
  const adminHasPassword = settings['service.auth.adminpw'] !== undefined || admin?.password !== undefined
  return {
    ...opened,
    accounts,
    backups,
    content,
    sso,
    app,
    address,
    readers,
    graphs,
    files,
    resumableFiles,
    garbage,
    scrubber,
    catchUp,
    readiness,
    history,
    insight,
    telemetry,
    adminHasPassword,
  }
}

interface Unprepared extends Pick<Accounts, 'passwords'> {
  readonly database: Database
  readonly changes: Changes
  readonly ledger: Ledger
  readonly catchUp: CatchUp
}

/** Fills a new store, and brings what is derived from its rows up to date. */
async function prepareStore(
  settings: Settings,
  { adminPassword }: RuntimeEnvironment,
  { database, changes, ledger, passwords, catchUp }: Unprepared,
): Promise<void> {
  const adminHash = await hashFirstAdminPassword(database, passwords, adminPassword)
  await initialise({
    database,
    changes,
    ledger,
    testHashes: async () =>
      settings['service.repository.store.init-with-test-data']
        ? await hashTestPasswords(password => passwords.hash(password))
        : undefined,
  })
  if (adminHash !== undefined) await setFirstAdminPassword(database, adminHash)
  await database.transaction(buildMissingRelations, { noTimeout: true })
  await catchUp.begin()
}

/** What is done every minute. Two jobs that may take long do not delay the others. */
function beginJobs({ log }: RuntimeEnvironment, parts: Parts): readonly ScheduledJobs[] {
  const {
    accounts,
    catchUp,
    content,
    disk,
    ephemeralStores,
    garbage,
    history,
    node,
    resumableFiles,
    scrubber,
    sso,
    stores,
  } = parts
  const warnOfExpiry = (): void => {
    for (const { provider } of sso.current.saml?.providers ?? []) provider.metadata.warnOfExpiry()
  }
  return [
    new ScheduledJobs(log, [
      ['interrupted uploads', () => garbage.recover(false)],
      ['deleted files', () => garbage.collect()],
      ['entries without a file', () => content.resumableUploads.deleteUnusedEntries()],
      ['old uploads', () => resumableFiles.forgetOld()],
      ['reserve on the disk', () => disk?.restoreReserve()],
      ['state of the node', () => node.watch()],
      ...accounts.expiries,
      ['trash', () => content.trash.expire()],
      ['public links', () => content.links?.expire()],
      ['search index', () => content.search.tidy()],
      ['change log', () => pruneChangeLog(stores.database)],
      ['expired sessions', () => ephemeralStores.sweep()],
      ['history of figures', () => history.sample()],
      ['expiry of provider metadata', warnOfExpiry],
    ]),
    new ScheduledJobs(log, [['indexing', () => catchUp.run()]]),
    new ScheduledJobs(log, [['verification of files', () => scrubber.run(JOBS_INTERVAL)]]),
  ]
}

/** What is put in force when the settings are read again. */
const liveParts = ({ log }: RuntimeEnvironment, parts: Parts): readonly LivePart[] => [
  parts.stores.reload,
  parts.ephemeralStores.reload,
  parts.accounts.reload,
  parts.sso.reload,
  parts.insight.reload,
  parts.node.reload,
  async ({ next }) => ({ apply: () => void (log.level = next['service.log.level']) }),
  // A reader opens its own connections to the database.
  async ({ changed }) =>
    changed.has('service.repository.store.url') ? { apply: () => parts.readers.renew() } : undefined,
]

function serverOf(live: LiveSettings, machine: RuntimeEnvironment, parts: Parts): Server {
  const { settings } = live
  const { accounts, address, app, catchUp, disk, ephemeralStores, files, node, readiness, scrubber, sso, stores } =
    parts
  const jobs = beginJobs(machine, parts)
  const reloader = new Reloader({ live, log: machine.log, reread: machine.reread, parts: liveParts(machine, parts) })
  let closeSecondListener = async (): Promise<void> => {}
  return {
    adminHasPassword: parts.adminHasPassword,
    dataPlace: dataPlace(settings, stores.folder),
    drain: () => void (readiness.isDraining = true),
    reload: () => reloader.reload(),
    async listen() {
      closeSecondListener = await listen(app, settings['service.http.host'], settings['service.http.port'])
      address.listensOn((app.server.address() as AddressInfo).port)
      const { href } = address.base
      void files.collectGarbage()
      void parts.backups?.schedule.run()
      catchUp.run().catch((err: unknown) => machine.log.error({ err }, 'indexing failed'))
      return href
    },
    async close() {
      readiness.isDraining = true
      await setTimeout(settings['service.http.drain-time'])
      const lastJobs = Promise.all(jobs.map(each => each.close()))
      const lastBackup = parts.backups?.schedule.close()
      scrubber.close()
      disk?.close()
      await Promise.all([app.close(), closeSecondListener()])
      await catchUp.stop()
      await lastJobs
      await lastBackup
      await accounts.mails?.close()
      await sso.close()
      await parts.graphs.close()
      await parts.readers.close()
      // Its last metrics are read from the stores.
      await parts.telemetry?.close()
      await files.settled()
      await files.collectGarbage()
      await accounts.accessTokens?.close()
      await accounts.passwords.close()
      accounts.breachedPasswords?.close()
      await ephemeralStores.close()
      await node.leave()
      await stores.close()
    },
  }
}
