import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds, Seconds } from '../../base/units.ts'
import { withinTimeout } from '../../base/times.ts'
import { Backoff, longestPause } from '../sso/metadata-source.ts'
import { refused } from '../sso/refusal.ts'
import {
  type DirectoryHits,
  type DirectoryQuestion,
  FederationDirectory,
  type ListedEntity,
} from './federation-directory.ts'
import type { FederationEntity } from './federation-entity.ts'
import type { EntityRow, FederationHead, FederationStore } from './federation-store.ts'
import { MetadataQueries, unknownEntity } from './metadata-queries.ts'
import type { FederationReader } from './federation-reader.ts'

export interface FederationOptions {
  /** Name of the federation in the settings. */
  readonly name: string
  /** `aggregate`: one document with all providers. Otherwise a metadata query service, and how it names an entity. */
  readonly kind: 'aggregate' | 'mdq' | 'mdq-sha1'
  /** Of the aggregate, or the base address of the query service. */
  readonly url: string
  /** Public keys that sign the metadata, PEM. */
  readonly keys: readonly string[]
  /** The maximum time until metadata are asked for again; they can ask for less. */
  readonly maxAge: Seconds
  /** Entity categories or assurance certifications that a provider must have, all of them. */
  readonly requiredCategories: readonly string[]
}

/** The state of a federation, for administrators. */
export interface FederationStatus {
  readonly kind: FederationOptions['kind']
  readonly url: string
  /** Wall clock. */
  readonly loadedAt: Milliseconds | undefined
  readonly validUntil: Milliseconds | undefined
  /** Providers that users can choose. */
  readonly offered: number
  readonly unusable: number
  readonly reasons: readonly string[]
  readonly problem: string | undefined
}

/** A federation as its service uses it. */
export type Federation = Pick<
  FederationSource,
  'find' | 'findStored' | 'reloadForUnknownKey' | 'search' | 'status' | 'refresh' | 'close'
>

interface Dependencies {
  readonly system: System
  readonly log: Log
  readonly store: FederationStore
  readonly reader: Pick<FederationReader, 'read' | 'close'>
}

/** No federation publishes more; eduGAIN is below 100 MB. */
const MAX_AGGREGATE: Bytes = 268_435_456
const LOAD_TIMEOUT: Milliseconds = 300_000
/** How long a request waits for the first copy. */
const FIRST_LOAD_TIMEOUT: Milliseconds = 60_000
/** The minimum time between two loads, also for metadata whose `cacheDuration` is shorter. */
const MIN_AGE: Milliseconds = 600_000
/** The minimum time between early reloads, because anyone can cause one by a sign-on with a wrong key. */
const PAUSE_BETWEEN_EARLY: Milliseconds = 3_600_000

/**
 * The identity providers of a federation (D31): their metadata are signed by the federation, kept in the store, and refreshed in the
 * background. The last good copy serves while a refresh fails, but never after its end.
 */
export class FederationSource {
  readonly #options: FederationOptions
  readonly #deps: Dependencies
  readonly #queries: MetadataQueries | undefined
  readonly #afterFailure: Backoff
  #head: FederationHead | undefined
  #directory = new FederationDirectory([], [])
  /** How many responses of the query service had been stored when the directory was made. */
  #listed = 0
  #loadedAt: Milliseconds | undefined
  /** The same time by the monotonic clock; `undefined` for a copy from the store. */
  #loaded: Milliseconds | undefined
  #reloadedEarly: Milliseconds | undefined
  #problem: string | undefined
  #loading: Promise<void> | undefined
  #restoring: Promise<void> | undefined
  #isClosed = false

  constructor(options: FederationOptions, deps: Dependencies) {
    this.#options = options
    this.#deps = deps
    this.#afterFailure = new Backoff(deps.system, longestPause(options.url))
    this.#queries =
      options.kind === 'aggregate' ? undefined : new MetadataQueries({ ...options, kind: options.kind }, deps)
  }

  /** @param network whose sign-on needs it @throws {SsoRefused} `metadata`, `unknown-entity`, `entity-category` */
  async find(entityId: string, network?: string): Promise<FederationEntity> {
    const entity = await this.#find(entityId, network)
    const missing = this.#options.requiredCategories.filter(category => !entity.categories.includes(category))
    if (missing.length === 0) return entity
    const received = entity.categories.join(', ') || 'none'
    throw refused('entity-category', missing.join(', '), `${received} of ${entityId}`)
  }

  /**
   * The provider with this entity id if the store has it, whatever its categories are. A message of a stranger can name any id, and must
   * not lead to a query for it. @throws {SsoRefused} `metadata`, `unknown-entity`
   */
  async findStored(entityId: string): Promise<FederationEntity> {
    requireEntityId(entityId)
    await this.#restore()
    const { name } = this.#options
    if (await this.#deps.store.find(name, entityId)) return await this.#find(entityId)
    throw unknownEntity(name, entityId)
  }

  /**
   * Reads the metadata of a provider again, after a signature by an unknown key.
   * @param used the keys that the check of the signature used @returns whether the provider has other keys now
   */
  async reloadForUnknownKey(entityId: string, used: readonly string[]): Promise<boolean> {
    const hasOthers = async (): Promise<boolean> => {
      const found = await this.#deps.store.find(this.#options.name, entityId)
      return found !== undefined && found.entity.idp.keys.join() !== used.join()
    }
    if (await hasOthers()) return true
    if (this.#queries) await this.#queries.askEarly(entityId).catch(() => undefined)
    else {
      const isPausing = this.#reloadedEarly !== undefined && this.#age(this.#reloadedEarly) < PAUSE_BETWEEN_EARLY
      if (!this.#loading && (isPausing || !this.#afterFailure.isOver)) return false
      this.#reloadedEarly = this.#deps.system.monotonic()
      await withinTimeout(this.#load(), FIRST_LOAD_TIMEOUT)
    }
    return await hasOthers()
  }

  async search(question: DirectoryQuestion): Promise<DirectoryHits> {
    await this.#ready()
    return this.#isValid() ? this.#directory.search(question) : { hits: [], hasMore: false }
  }

  async status(): Promise<FederationStatus> {
    await this.#restore()
    const { kind, url } = this.#options
    const { validUntil, unusable = 0, reasons = [] } = this.#head ?? {}
    const problem = this.#queries ? this.#queries.problem : this.#problem
    const offered = this.#directory.size
    return { kind, url, loadedAt: this.#loadedAt, validUntil, offered, unusable, reasons, problem }
  }

  /** Loads what is due; called at the start and then every minute. Failures are logged. */
  async refresh(): Promise<void> {
    try {
      await this.#restore()
      if (!this.#queries && this.#isDue()) await this.#load()
    } catch (error) {
      this.#deps.log.error({ idp: this.#options.name, err: error }, 'reading the stored federation failed')
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#deps.reader.close()
    await this.#loading
  }

  async #find(entityId: string, network?: string): Promise<FederationEntity> {
    requireEntityId(entityId)
    await this.#restore()
    if (this.#queries) {
      const entity = await this.#queries.find(entityId, network)
      if (this.#listed !== this.#queries.stored) await this.#listAgain()
      return entity
    }
    await this.#ready()
    const { url, name } = this.#options
    if (!this.#isValid()) {
      const received = this.#problem ?? (this.#head ? 'a copy that is no longer valid' : 'nothing yet')
      throw refused('metadata', url, received)
    }
    const stored = await this.#deps.store.find(name, entityId)
    if (!stored) throw unknownEntity(name, entityId)
    const end = stored.entity.idp.validUntil
    if (end === undefined || this.#deps.system.now() < end) return stored.entity
    const received = `metadata that were valid until ${new Date(end).toISOString()}`
    throw refused('metadata', entityId, received)
  }

  /** Waits for the first load only; later loads run in the background. */
  async #ready(): Promise<void> {
    await this.#restore()
    if (this.#queries || !this.#isDue()) return
    const loading = this.#load()
    if (!this.#isValid()) await withinTimeout(loading, FIRST_LOAD_TIMEOUT)
  }

  #isValid(): boolean {
    if (!this.#head) return this.#queries !== undefined
    return this.#head.validUntil === undefined || this.#deps.system.now() < this.#head.validUntil
  }

  #isDue(): boolean {
    if (this.#loading) return true
    if (!this.#afterFailure.isOver) return false
    const wanted = Math.max(this.#head?.cacheDuration ?? Infinity, MIN_AGE)
    const isOld = this.#loaded === undefined || this.#age(this.#loaded) >= Math.min(this.#options.maxAge * 1000, wanted)
    return isOld || !this.#isValid()
  }

  /** Takes over the copy in the store, once. It is used only if it came from the same address and was signed by the same keys. */
  #restore(): Promise<void> {
    this.#restoring ??= this.#restoreOnce().catch((error: unknown) => {
      this.#restoring = undefined
      throw error
    })
    return this.#restoring
  }

  async #restoreOnce(): Promise<void> {
    const { name } = this.#options
    const { store } = this.#deps
    const head = await store.heads.find(name, this.#source)
    if (head) {
      this.#head = head.metadata
      if (!this.#queries) this.#loadedAt = head.loadedAt
      await this.#listAgain()
      return
    }
    await store.clear(name)
    // A query service has no document to store: the row only says from which service and keys the stored entities come.
    if (this.#queries) await store.heads.store(name, this.#source, { metadata: emptyHead, loadedAt: 0 })
  }

  /** Makes the directory for the search page from the entities in the store. */
  async #listAgain(): Promise<void> {
    const stored = this.#queries?.stored ?? 0
    const listed: ListedEntity[] = []
    for await (const one of this.#deps.store.list(this.#options.name)) listed.push(one)
    this.#directory = new FederationDirectory(listed, this.#options.requiredCategories)
    this.#listed = stored
  }

  get #source(): string {
    const { kind, url, keys } = this.#options
    return [kind, url, ...keys].join('\n')
  }

  #load(): Promise<void> {
    this.#loading ??= this.#loadOnce().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #loadOnce(): Promise<void> {
    const { name, url, keys } = this.#options
    const { system, log, store, reader } = this.#deps
    try {
      const limits = { timeout: LOAD_TIMEOUT, maxBytes: MAX_AGGREGATE }
      const outcome = await reader.read({ url, keys, now: system.now(), ...limits })
      if ('refused' in outcome) throw new Error(outcome.refused)
      const { summary, packs, duplicates } = outcome
      const replaced = await store.replace(name, unpacked(packs), new Set(duplicates))
      const twice = duplicates.map(id => `${id}: it occurs more than once`)
      const head: FederationHead = {
        validUntil: summary.validUntil,
        cacheDuration: summary.cacheDuration,
        unusable: summary.unusable + duplicates.length,
        reasons: [...summary.reasons, ...twice].slice(0, MAX_REASONS),
      }
      const loadedAt = system.now()
      await store.heads.store(name, this.#source, { metadata: head, loadedAt })
      await this.#listAgain()
      // Only now: a store that failed until here is tried again after a pause, and not at the maximum age.
      this.#head = head
      this.#loaded = system.monotonic()
      this.#loadedAt = loadedAt
      this.#problem = undefined
      this.#afterFailure.end()
      log.info({ idp: name, url, ...replaced, unusable: head.unusable, bytes: summary.bytes }, 'federation loaded')
    } catch (error) {
      if (this.#isClosed) return
      this.#afterFailure.extend()
      this.#problem = (error as Error).message
      log.error({ idp: name, url, err: error, keepsLastCopy: this.#isValid() }, 'loading a federation failed')
    }
  }

  #age(since: Milliseconds): Milliseconds {
    return this.#deps.system.monotonic() - since
  }
}

/** The longest entity id (SAML Core 8.3.6). */
const MAX_ENTITY_ID = 1024

function requireEntityId(text: string): void {
  if (text.length <= MAX_ENTITY_ID && /^[!-~\u00A0-\uFFFF]+$/.test(text)) return
  const received = text.slice(0, MAX_ENTITY_ID)
  throw refused('unknown-entity', 'an entity id', received)
}

const MAX_REASONS = 10
const emptyHead: FederationHead = { validUntil: undefined, cacheDuration: undefined, unusable: 0, reasons: [] }

/** One pack after the other, since parsing all of them at once would hold up requests. */
function* unpacked(packs: readonly Uint8Array[]): Generator<readonly EntityRow[]> {
  for (const pack of packs) yield JSON.parse(Buffer.from(pack).toString('utf8')) as EntityRow[]
}
