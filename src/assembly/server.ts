import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Audit } from '../accounts/audit.ts'
import type { CredentialKind } from '../accounts/credential-kinds.ts'
import { hashFirstAdminPassword, setFirstAdminPassword } from '../accounts/passwords.ts'
import { ADMIN, findUser } from '../accounts/users.ts'
import type { Settings } from '../config/settings.ts'
import { adoptFoldersOnce, buildMissingRelations, Changes } from '../content/changes.ts'
import { entriesOf } from '../content/entry-records.ts'
import { initialise } from '../content/setup/initialise.ts'
import { Revisions } from '../content/revisions.ts'
import { CatchUp } from '../search/catch-up.ts'
import { tidyIndex } from '../search/index-records.ts'
import { Garbage } from '../files/garbage.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { defaultGraphLimits } from '../graph/graph.ts'
import { GraphReader } from '../graph/graph-reader.ts'
import { createApp } from '../http/app.ts'
import { listen } from '../http/protocol/listening.ts'
import type { ContentOriginSlot } from '../http/content-origin.ts'
import { Metrics } from '../http/metrics.ts'
import { RunningTransfers } from '../http/running-transfers.ts'
import type { RequestRecords } from '../http/request-records.ts'
import { ServiceAddress } from '../http/base-address.ts'
import { ScheduledJobs } from '../base/scheduled-jobs.ts'
import { httpOptions } from './http.ts'
import { createExamination } from './examination.ts'
import { type ComparedSettings, LiveSettings } from '../core/live-settings.ts'
import { warnOfMissingFiles } from '../core/lost-database.ts'
import { warnOfNewStore } from '../core/lost-store.ts'
import type { Reload } from '../core/reload.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'
import { Reloader } from './reload.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { type EphemeralStores, openEphemeralStores } from '../core/ephemeral-stores.ts'
import { createMails } from './mails.ts'
import { joinAsNode, type Node } from '../core/node.ts'
import type { ProviderSlot } from '../http/identity-providers.ts'
import { dataPlace, makeRoomForStart, openDisk } from '../core/data-folder.ts'
import { createContent } from './content.ts'
import { offerCoreRoutes } from './routes.ts'
import { createFiles } from './files.ts'
import { features } from '../features/features.ts'
import { type OpenFeatures, openFeatures } from './open-features.ts'
import { requireIntact, type Stores } from '../core/stores.ts'
import { capacity } from './ephemeral-capacity.ts'
import { layout, openStores } from './stores.ts'
import { createLedger } from './ledger.ts'
import { ownFactorKeyFile } from '../core/factor-key-file.ts'
import { createReaders } from './readers.ts'
import { loggedUpgrade } from '../core/schema-upgrade.ts'
import { archiveTranslator } from './translate-archive.ts'
import { loadUi } from '../core/load-ui.ts'
import { requireUsable } from './usable-settings.ts'
import { pruneChangeLog } from '../stores/change-log.ts'
import { DependencyCache } from '../stores/dependency-cache.ts'
import type { Database } from '../stores/database.ts'
import type { DiskSpace } from '../stores/disk.ts'

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
    await requireUsable(settings, machine)
    await makeRoomForStart(settings, machine.log)
    const during = loggedUpgrade(machine.log, machine.system)
    stores = await openStores(settings, machine.system, { during })
    await requireIntact(stores.database)
    await warnOfMissingFiles(settings, stores.database, machine.log)
    ephemeralStores = await openEphemeralStores(settings, machine, { database: stores.database, capacity })
    const node = await joinAsNode(settings, machine, stores, ephemeralStores)
    const disk = await openDisk(settings, machine.log)
    const components = await assemble(settings, machine, { stores, ephemeralStores, node, disk })
    return serverOf(live, machine, components)
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

type Components = Awaited<ReturnType<typeof assemble>>

async function assemble(settings: Settings, machine: RuntimeEnvironment, opened: Opened) {
  const { stores, ephemeralStores, disk } = opened
  const { database, blobs } = stores
  const { system, log } = machine
  const ledger = createLedger(settings, database, system)
  const garbage = new Garbage(database, blobs, ledger, system)
  const cache = new DependencyCache(database, CACHE_BYTES, system)
  const audit = new Audit(database, { system, log })
  const accounts = await createAccounts(settings, machine, { ...ephemeralStores, database, cache, audit })
  const ui = await loadUi()
  const address = new ServiceAddress(settings['service.baseurl.folder'])
  const files = createFiles(settings, machine, {
    database,
    blobs,
    disk,
    ledger,
    garbage,
  })
  const catchUp = new CatchUp(database, entriesOf, log)
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
  await garbage.recover(stores.isExclusive).catch((err: unknown) => log.error({ err }, 'deleting old files failed'))
  const isNew = await database.withExclusiveLock(() =>
    prepareStore(settings, machine, { ...accounts, database, changes, ledger, catchUp }),
  )
  if (isNew) await warnOfNewStore(settings, log, dataPlace(settings, stores.folder))
  const readers = createReaders(settings, () => address.base.href)
  const content = createContent(settings, {
    ...accounts,
    database,
    cache,
    changes,
    revisions,
    files,
    ledger,
    system,
  })
  const identityProviders: ProviderSlot = {}
  const graphs = new GraphReader({
    limits: { ...defaultGraphLimits, maxSize: settings['service.http.json.max-size'] },
  })
  const metrics = new Metrics({
    ...accounts,
    catchUp,
    files,
    disk,
    system,
  })
  const examination = createExamination(settings, machine)
  const records: RequestRecords = {}
  const stopping = { isDraining: false }
  const contentOrigin: ContentOriginSlot = {}
  const mails = await createMails(settings, log, { audit, database })
  const signInPage = {}
  const credentials: CredentialKind[] = []
  const core = {
    ...accounts,
    mails: mails.queue,
    signInPage,
    credentials,
    settings,
    system,
    log,
    database,
    blobs,
    ephemeral: ephemeralStores.ephemeral,
    cache,
    loader: content.loader,
    entries: content.entries,
    accessReads: content.accessReads,
    views: content.views,
    metadata: content.metadata,
    garbage,
    changes,
    listMoves: content.listMoves,
    creation: content.creation,
    contextQuota: content.contextQuota,
    files,
    ledger,
    contentOrigin,
    resources: content.resources,
    tokenKeys: ephemeralStores.tokenKeys,
    identityProviders,
    records,
    metrics,
    status: () => openedFeatures.status(),
    stopping,
    examination,
    disk,
    ui,
    address,
    environment: machine.sources?.environment ?? {},
    version: machine.version,
    translateArchive: archiveTranslator(system),
    layout,
    ownKeyFile: ownFactorKeyFile(settings),
  }
  const openedFeatures: OpenFeatures = await openFeatures(features, core)
  await openedFeatures.recover(stores.isExclusive)
  for (const metric of openedFeatures.metrics) metrics.add(metric)
  const app = createApp(
    {
      ...accounts,
      ...content,
      cache,
      credentials,
      readers,
      metrics,
      stopping,
      records,
      // Rows on a database server take no space on this disk.
      requireSpace: settings['service.repository.store.url'] === undefined ? disk?.requireSpace.bind(disk) : undefined,
      checkDisk: () => void disk?.check(),
      ui,
      contentOrigin: contentOrigin.current,
      system,
      log,
      transfers: new RunningTransfers({ database, cache, log }),
    },
    httpOptions(settings, machine, address),
    [...offerCoreRoutes({ ...core, ...content, graphs }), ...openedFeatures.offers],
  )
  const admin = await findUser(database, ADMIN)
  const adminHasPassword = settings['service.auth.adminpw'] !== undefined || admin?.password !== undefined
  return {
    ...opened,
    accounts,
    mails,
    content,
    app,
    address,
    readers,
    graphs,
    files,
    garbage,
    catchUp,
    stopping,
    examination,
    features: openedFeatures,
    adminHasPassword,
  }
}

interface PrepareStoreDeps extends Pick<Accounts, 'passwords'> {
  readonly database: Database
  readonly changes: Changes
  readonly ledger: Ledger
  readonly catchUp: CatchUp
}

/** Fills a new store, and brings what is derived from its rows up to date. Returns whether the store is new. */
async function prepareStore(
  settings: Settings,
  { adminPassword, log }: RuntimeEnvironment,
  { database, changes, ledger, passwords, catchUp }: PrepareStoreDeps,
): Promise<boolean> {
  const adminHash = await hashFirstAdminPassword(database, passwords, adminPassword)
  const withTestData = settings['service.repository.store.init-with-test-data']
  const isNew = await initialise({ database, changes, ledger, withTestData, passwords })
  if (adminHash !== undefined) await setFirstAdminPassword(database, adminHash)
  await database.transaction(buildMissingRelations, { noTimeout: true })
  const adopted = await database.transaction(adoptFoldersOnce, { noTimeout: true })
  if (adopted) log.info(adopted, 'entries with a copy of the access list of their folder follow the folder now')
  await catchUp.begin()
  return isNew
}

/** What is done every minute. One job that may take long does not delay the others. */
function beginJobs({ log }: RuntimeEnvironment, components: Components): readonly ScheduledJobs[] {
  const { catchUp, ephemeralStores, garbage, node, stores } = components
  return [
    new ScheduledJobs(log, [
      ['interrupted uploads', () => garbage.recover(false)],
      ['deleted files', () => garbage.collect()],
      ['state of the node', () => node.watch()],
      ...components.features.jobs,
      ['search index', closing => tidyIndex(stores.database, closing)],
      ['change log', () => pruneChangeLog(stores.database)],
      ['expired sessions', () => ephemeralStores.sweep()],
    ]),
    new ScheduledJobs(log, [['indexing', () => catchUp.run()]]),
  ]
}

/** What is put in force when the settings are read again. */
const reloadsOf = ({ log }: RuntimeEnvironment, components: Components): ReadonlyArray<Reload<ComparedSettings>> => [
  components.stores.reload,
  components.ephemeralStores.reload,
  components.accounts.reload,
  components.mails.reload,
  components.examination.reload,
  components.node.reload,
  ...components.features.reloads,
  async ({ next }) => ({ apply: () => void (log.level = next['service.log.level']) }),
  // A reader opens its own connections to the database.
  async ({ changed }) =>
    changed.has('service.repository.store.url') ? { apply: () => components.readers.renew() } : undefined,
]

function serverOf(live: LiveSettings, machine: RuntimeEnvironment, components: Components): Server {
  const { settings } = live
  const { accounts, address, app, catchUp, disk, ephemeralStores, files, node, stopping, stores } = components
  const jobs = beginJobs(machine, components)
  const reloader = new Reloader({
    live,
    log: machine.log,
    reread: machine.reread,
    reloads: reloadsOf(machine, components),
  })
  let closeSecondListener = async (): Promise<void> => {}
  return {
    adminHasPassword: components.adminHasPassword,
    dataPlace: dataPlace(settings, stores.folder),
    drain: () => void (stopping.isDraining = true),
    reload: () => reloader.reload(),
    async listen() {
      closeSecondListener = await listen(app, settings['service.http.host'], settings['service.http.port'])
      address.listensOn((app.server.address() as AddressInfo).port)
      const { href } = address.base
      void files.collectGarbage()
      components.features.begin()
      catchUp.run().catch((err: unknown) => machine.log.error({ err }, 'indexing failed'))
      return href
    },
    async close() {
      stopping.isDraining = true
      await setTimeout(settings['service.http.drain-time'])
      const lastJobs = Promise.all(jobs.map(each => each.close()))
      disk?.close()
      await Promise.all([components.features.stop(), app.close(), closeSecondListener()])
      await catchUp.stop()
      await lastJobs
      await components.mails.queue?.close()
      await components.features.close()
      await components.graphs.close()
      await components.readers.close()
      await files.settled()
      await files.collectGarbage()
      await accounts.passwords.close()
      accounts.passwordRules.close()
      await ephemeralStores.close()
      await node.leave()
      await stores.close()
    },
  }
}
