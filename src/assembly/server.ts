import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { hashFirstAdminPassword, setFirstAdminPassword } from '../accounts/first-admin-password.ts'
import { ADMIN } from '../accounts/principals.ts'
import { findUser } from '../accounts/users.ts'
import { requireWhole } from '../backup/store-copy.ts'
import { StartupError } from '../base/errors.ts'
import { keepTickShape } from '../base/tick-shape.ts'
import type { Settings } from '../config/settings.ts'
import { Changes } from '../content/changes.ts'
import { entrySource } from '../content/entry-records.ts'
import { initialise } from '../content/setup/initialise.ts'
import { buildMissingRelations } from '../content/changes.ts'
import { Revisions } from '../content/revisions.ts'
import { CatchUp } from '../search/catch-up.ts'
import { hashTestPasswords } from '../content/setup/test-data.ts'
import { Scrubber } from '../files/scrubber.ts'
import { StagedImports } from '../files/staged-import.ts'
import { Files, type FilesOptions } from '../files/files.ts'
import { StorageUsage } from '../files/storage-usage.ts'
import { Garbage } from '../files/garbage.ts'
import { Ledger } from '../files/quota-ledger.ts'
import { GraphReader, movedMemory, movedOutcome, openGraphPool } from '../graph/graph-reader.ts'
import { createApp } from '../http/app.ts'
import { History } from '../http/history.ts'
import { Metrics } from '../http/metrics.ts'
import { Readiness } from '../http/readiness.ts'
import { BaseAddress } from '../http/base-address.ts'
import { AnswerCache } from '../http/readers/answer-cache.ts'
import { Chores, CHORES_INTERVAL } from '../base/chores.ts'
import { createInsight } from './insight.ts'
import { httpOptions } from './http-options.ts'
import type { Machine } from './machine.ts'
import { createAccounts } from './accounts.ts'
import { type EphemeralStores, openEphemeralStores } from './ephemeral-stores.ts'
import { joinAsNode, type Node } from './node.ts'
import { createSso } from './sso.ts'
import { dataPlace, openDisk } from './disk.ts'
import { createContent } from './content.ts'
import { createContentOrigin } from './content-origin.ts'
import { createProxy } from './proxy.ts'
import { requireHealthy, requireSound } from './health.ts'
import { createReaders } from './readers.ts'
import { sharePool } from './team-services.ts'
import { openStores, type Stores } from './stores.ts'
import { createVirusScan } from './virus-scan.ts'
import { MainThread } from '../threads/main-thread.ts'
import { type FirstThread, type ThreadTeam, threadCount } from '../threads/team.ts'
import { loadUi } from './ui.ts'
import { pruneChangeLog } from '../stores/change-log.ts'
import { DependencyCache } from '../stores/dependency-cache.ts'
import type { DiskSpace } from '../stores/disk.ts'
import { ping } from '../stores/sql.ts'

/** For frequently requested users, access lists and entries, in each thread. */
const CACHE_BYTES = 16 * 2 ** 20
const ANSWER_CACHE_BYTES = 8 * 2 ** 20
/** This file lies beside that of the thread; both end in .js when compiled and in .ts when run from source. */
const servingThread = new URL(`./serving-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

export interface Server {
  /** Resolves to the base address when requests are served. */
  listen(): Promise<string>
  /** From this call on the service reports that it is not ready, and still serves. */
  drain(): void
  /** Drains, lets requests in progress finish, then closes everything. */
  close(): Promise<void>
  /**
   * Resolves when a thread has ended by itself; the process should then end. With a single thread it never
   * resolves.
   */
  readonly failure: Promise<Error>
  /** False while admin has no way to sign in. */
  readonly adminHasPassword: boolean
  /** Where rows and files are kept, for people. */
  readonly dataPlace: string
}

/**
 * Assembles the program. This is the only place that chooses drivers and turns settings into the options of
 * each room.
 * @param team for a thread that the first one has started
 */
export async function createServer(
  settings: Settings,
  machine: Machine,
  team: ThreadTeam | undefined = createTeam(settings, machine),
): Promise<Server> {
  keepTickShape()
  let stores: Stores | undefined
  let ephemeralStores: EphemeralStores | undefined
  try {
    stores = await openStores(settings, machine.system, { team })
    await requireWhole(stores.database)
    if (team?.isFirst !== false) await requireSound(stores.database)
    ephemeralStores = await openEphemeralStores(settings, machine, stores.database, team)
    const node = await joinAsNode(settings, machine, stores, ephemeralStores)
    const disk = await openDisk(settings, machine.log, team)
    return await assemble(settings, machine, { stores, ephemeralStores, team, node, disk })
  } catch (error) {
    if (team?.isFirst === true) await team.end()
    await ephemeralStores?.close()
    await stores?.close()
    throw error
  }
}

interface Opened {
  readonly stores: Stores
  readonly ephemeralStores: EphemeralStores
  /** Present when several threads serve. */
  readonly team: ThreadTeam | undefined
  readonly node: Node
  /** Absent when the data folder is not used. */
  readonly disk: DiskSpace | undefined
}

async function assemble(settings: Settings, machine: Machine, opened: Opened): Promise<Server> {
  const { stores, ephemeralStores, team, node, disk } = opened
  const first = team?.isFirst === true ? team : undefined
  const other = team?.isFirst === false ? team : undefined
  const { database, blobs } = stores
  const { system, log } = machine
  const books = {
    enforced: settings['service.data.quota'],
    defaultQuota: settings['service.data.quota.default'],
  }
  const ledger = new Ledger(database, system, books)
  const garbage = new Garbage(database, blobs, ledger, system)
  // If no other process uses the store, a crash has interrupted every upload on record.
  if (!other) {
    // What cannot be deleted now is tried again every minute.
    await garbage.recover(stores.isExclusive).catch((err: unknown) => log.error({ err }, 'deleting old files failed'))
  }
  const cache = new DependencyCache(database, CACHE_BYTES, system)
  const accounts = await createAccounts(settings, machine, { ...ephemeralStores, database, cache, team })
  const virusScan = createVirusScan(settings, machine, { ...accounts, blobs, threads: team?.count ?? 1 })
  const fileOptions: FilesOptions = {
    maxFileSize: settings['service.data.max-file-size'],
    verifyOnRead: settings['service.data.verify-on-read'],
    // Files in a bucket take no space on the disk.
    requireSpace: bytes => (settings['service.data.store'] === 'folder' ? disk?.requireSpace(bytes) : undefined),
    virusScan,
    onThreshold: reached => accounts.audit.record({ event: 'quota-threshold', detail: { ...reached } }),
  }
  const files = new Files({ database, blobs }, { ledger, garbage }, machine, fileOptions)
  const stagedImports = new StagedImports({ database, blobs, ledger, garbage, system, log }, fileOptions)
  const catchUp = new CatchUp(database, entrySource, log)
  const revisions = new Revisions(settings['service.repository.provenance'])
  const changes = new Changes({ database, system, audit: accounts.audit, revisions })
  const prepare = async (): Promise<void> => {
    const adminHash = await hashFirstAdminPassword(database, accounts.passwords, machine.adminPassword)
    await initialise({
      database,
      changes,
      ledger,
      testHashes: async () =>
        settings['service.repository.store.init-with-test-data']
          ? await hashTestPasswords(password => accounts.passwords.hash(password))
          : undefined,
    })
    if (adminHash !== undefined) await setFirstAdminPassword(database, adminHash)
    await database.transaction(buildMissingRelations, { noTimeout: true })
    await catchUp.begin()
  }
  if (!other) await database.withExclusiveLock(prepare)
  const configuredBase = other?.base ?? settings['service.baseurl.folder']
  let base = configuredBase === undefined ? undefined : new BaseAddress(configuredBase)
  const getBase = (): BaseAddress => {
    if (!base) throw new Error('the base address is known only after the server has started to listen')
    return base
  }
  const { readers, readPage } = createReaders(
    settings,
    () => getBase().href,
    team,
    new AnswerCache(cache.partition(ANSWER_CACHE_BYTES / (team?.count ?? 1))),
    () => catchUp.isComplete,
  )
  const content = createContent(settings, {
    ...accounts,
    database,
    cache,
    changes,
    revisions,
    files,
    stagedImports,
    ledger,
    system,
    readPage,
  })

  const sso = await createSso(settings, machine, {
    ...accounts,
    ...ephemeralStores,
    database,
    changes,
    base: getBase,
    team,
  })
  const ui = await loadUi()
  const graphs = new GraphReader({
    limits: {
      maxStatements: settings['service.repository.max-statements'],
      maxSize: settings['service.http.json.max-size'],
    },
    pool: sharePool(team, 'graphs', openGraphPool, { task: movedMemory, result: movedOutcome }),
  })
  const storageUsage = new StorageUsage(database, system, books)
  const scrubber = new Scrubber({ database, blobs, system, log }, { interval: settings['service.data.scrub-interval'] })
  const metrics = new Metrics({ ...accounts, files, storageUsage, disk, scrubber, virusScan, system }, team)
  team?.answer('metrics', () => metrics.ofThread())
  const history = new History({ metrics, storageUsage, system })
  const readiness = new Readiness({
    database: () => database.get(ping),
    ...(disk ? { disk: () => requireHealthy(disk) } : {}),
  })
  const app = createApp(
    {
      ...accounts,
      ...content,
      sso,
      database,
      cache,
      files,
      ledger,
      graphs,
      readers,
      metrics,
      history,
      insight: createInsight(settings, machine),
      readiness,
      // Rows on a database server take no space on this disk.
      requireSpace: () => (settings['service.repository.store.url'] === undefined ? disk?.requireSpace() : undefined),
      checkDisk: () => void disk?.check(),
      ui,
      proxy: createProxy(settings, machine),
      contentOrigin: createContentOrigin(settings, machine, { ...ephemeralStores, team }),
      system,
      log,
    },
    httpOptions(settings, machine, getBase, base?.path ?? '/', team?.count ?? 1),
  )
  const admin = await findUser(database, ADMIN)
  // Two that may take long do not delay the others.
  const chores = other
    ? []
    : [
        new Chores(log, [
          ['interrupted uploads', () => garbage.recover(false)],
          ['deleted files', () => garbage.collect()],
          ['reserve on the disk', () => disk?.restoreReserve()],
          ['state of the node', () => node.watch()],
          ...accounts.expiries,
          ['trash', () => content.trash.expire()],
          ['public links', () => content.links?.expire()],
          ['search index', () => content.search.tidy()],
          ['change log', () => pruneChangeLog(database)],
          ['expired sessions', () => ephemeralStores.sweep()],
          ['history of figures', () => history.sample()],
          [
            'expiry of provider metadata',
            () => sso.saml?.providers.forEach(({ provider }) => provider.metadata.warnOfExpiry()),
          ],
        ]),
        new Chores(log, [['indexing', () => catchUp.run()]]),
        new Chores(log, [['verification of files', () => scrubber.run(CHORES_INTERVAL)]]),
      ]

  return {
    adminHasPassword: settings['service.auth.adminpw'] !== undefined || admin?.password !== undefined,
    dataPlace: dataPlace(settings, stores.folder),
    failure: first?.failure ?? new Promise(() => {}),
    drain: () => readiness.drain(),
    async listen() {
      if (other) {
        await app.ready()
        await other.listen(app.server)
        return other.base
      }
      first?.share(app.server)
      await listen(app, settings['service.http.host'], settings['service.http.port'])
      const { port } = app.server.address() as AddressInfo
      base ??= new BaseAddress(`http://127.0.0.1:${port}/`)
      await first?.start({ base: base.href, version: machine.version, tokenKey: machine.tokenKey })
      void files.collectGarbage()
      catchUp.run().catch((error: unknown) => log.error({ err: error }, 'indexing failed'))
      return base.href
    },
    async close() {
      readiness.drain()
      await first?.tell('drain')
      if (!other) await setTimeout(settings['service.http.drain-time'])
      const lastChores = Promise.all(chores.map(each => each.close()))
      scrubber.close()
      disk?.close()
      await Promise.all([app.close(), first?.tell('stop')])
      await first?.end()
      await catchUp.stop()
      await lastChores
      await accounts.mails?.close()
      await sso.saml?.close()
      await sso.cas?.close()
      await graphs.close()
      await readers.close()
      await files.settled()
      if (!other) await files.collectGarbage()
      await accounts.sessions.close()
      await accounts.accessTokens?.close()
      await accounts.passwords.close()
      accounts.breachedPasswords?.close()
      await ephemeralStores.close()
      await node.leave()
      await stores.close()
    },
  }
}

/** `undefined` with a single thread. */
function createTeam(settings: Settings, { sources }: Machine): FirstThread | undefined {
  // On other platforms threads cannot share a listening socket. With a database server, several processes
  // share the work.
  const isPossible = sources && process.platform !== 'win32' && !settings['service.repository.store.url']
  const count = isPossible ? threadCount(settings['service.http.threads']) : 1
  return count > 1 ? new MainThread(count, servingThread, sources) : undefined
}

const unusable: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'that takes more rights than this program has',
}

/** @throws {StartupError} with host and port when listening fails */
async function listen(app: Pick<ReturnType<typeof createApp>, 'listen'>, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const reason = unusable[error instanceof Error && 'code' in error ? String(error.code) : '']
    if (reason === undefined) throw error
    throw new StartupError(`Cannot listen on ${host} port ${port}: ${reason}.`, { cause: error })
  }
}
