import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Semaphore } from '../../base/semaphore.ts'
import { Overloaded } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds, Seconds } from '../../base/units.ts'
import { withinTimeout } from '../../base/times.ts'
import { Backoff, longestPause, REFRESH_TIMEOUT } from '../sso/metadata-source.ts'
import { type SsoRefused, refused } from '../sso/refusal.ts'
import type { FederationEntity } from './federation-entity.ts'
import type { FederationReader } from './federation-reader.ts'
import type { EntityRow, FederationStore, StoredEntity } from './federation-store.ts'

interface QueryOptions {
  /** Name of the federation in the settings. */
  readonly name: string
  readonly kind: 'mdq' | 'mdq-sha1'
  /** Base address of the query service. */
  readonly url: string
  readonly keys: readonly string[]
  readonly maxAge: Seconds
}

interface Dependencies {
  readonly system: System
  readonly log: Log
  readonly store: FederationStore
  readonly reader: Pick<FederationReader, 'read'>
}

const QUERY_TIMEOUT: Milliseconds = 10_000
const MAX_ENTITY: Bytes = 1_048_576
/** The minimum time between early queries for one entity, because anyone can send a wrong signature. */
const EARLY_PAUSE: Milliseconds = 60_000
/** How long an entity that the service does not have is remembered. */
const UNKNOWN_PAUSE: Milliseconds = 600_000
const MAX_REMEMBERED = 2_000
const MIN_AGE: Milliseconds = 600_000
/** Maximum number of queries per minute, because strangers can invent entity IDs. */
const MAX_QUERIES = 120
/** Maximum number of them that sign-ons from one network cause. */
const MAX_PER_NETWORK = 30
const MINUTE: Milliseconds = 60_000

/**
 * Metadata of single providers from a metadata query service (draft-young-md-query), each signed by the federation. Entities are stored
 * like those of an aggregate, so only entities that the service has signed take space.
 */
export class MetadataQueries {
  readonly #options: QueryOptions
  readonly #deps: Dependencies
  readonly #running = new Map<string, Promise<void>>()
  /** Entities that the service does not have: until when they are not asked for again. Monotonic. */
  readonly #unknown = new LRUCache<string, Milliseconds>({ max: MAX_REMEMBERED })
  /** Entities whose last query failed. */
  readonly #failed = new LRUCache<string, { readonly backoff: Backoff; readonly problem: string }>({
    max: MAX_REMEMBERED,
  })
  /** By entity id, when it was last asked for before its time. Monotonic. */
  readonly #askedEarly = new LRUCache<string, Milliseconds>({ max: MAX_REMEMBERED })
  readonly #semaphore = new Semaphore({ concurrency: 2, queue: 50, what: 'metadata queries' })
  #minute = { begun: -Infinity, queries: 0, byNetwork: new Map<string, number>() }
  #problem: string | undefined
  #stored = 0

  constructor(options: QueryOptions, deps: Dependencies) {
    this.#options = options
    this.#deps = deps
  }

  /** Responses that have been stored by this process. */
  get stored(): number {
    return this.#stored
  }

  /** Why the last query failed; `undefined` when it succeeded. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** @param network whose sign-on needs it @throws {SsoRefused} `unknown-entity`, `metadata` @throws {Overloaded} */
  async find(entityId: string, network?: string): Promise<FederationEntity> {
    const stored = await this.#findStored(entityId)
    const now = this.#deps.system.now()
    if (stored && now < (stored.freshUntil ?? 0)) return stored.entity
    const asking = this.ask(entityId, network)
    // With a good copy, a service that is slow or away delays a sign-on by a second at most.
    if (stored)
      await withinTimeout(
        asking.catch(() => undefined),
        REFRESH_TIMEOUT,
      )
    else await asking
    const found = await this.#findStored(entityId)
    if (found) return found.entity
    const { problem } = this.#failed.get(entityId) ?? {}
    const { name } = this.#options
    if (problem === undefined) throw unknownEntity(name, entityId)
    throw refused('metadata', queryAddress(this.#options, entityId), problem)
  }

  /** Asks for an entity whose signature does not fit. @throws {Overloaded} */
  async askEarly(entityId: string): Promise<void> {
    const now = this.#deps.system.monotonic()
    if (now - (this.#askedEarly.get(entityId) ?? -Infinity) < EARLY_PAUSE) return
    this.#askedEarly.set(entityId, now)
    await this.ask(entityId)
  }

  /** Asks for an entity now, unless it was asked for a moment ago without success. @throws {Overloaded} */
  async ask(entityId: string, network?: string): Promise<void> {
    const running = this.#running.get(entityId)
    if (running) return await running
    if (this.#deps.system.monotonic() < (this.#unknown.get(entityId) ?? -Infinity)) return
    if (this.#failed.get(entityId)?.backoff.isOver === false) return
    this.#count(network)
    const asking = this.#semaphore.run(() => this.#ask(entityId)).finally(() => this.#running.delete(entityId))
    this.#running.set(entityId, asking)
    await asking
  }

  /** The stored entity, unless its validity has ended. */
  async #findStored(entityId: string): Promise<StoredEntity | undefined> {
    const stored = await this.#deps.store.find(this.#options.name, entityId)
    const end = stored?.entity.idp.validUntil
    return end !== undefined && this.#deps.system.now() < end ? stored : undefined
  }

  async #ask(entityId: string): Promise<void> {
    const { name, keys, maxAge } = this.#options
    const { system, store, reader, log } = this.#deps
    const url = queryAddress(this.#options, entityId)
    const outcome = await reader.read({ url, keys, now: system.now(), timeout: QUERY_TIMEOUT, maxBytes: MAX_ENTITY })
    if ('refused' in outcome && outcome.status === 404) {
      await store.remove(name, entityId)
      this.#problem = undefined
      this.#failed.delete(entityId)
      this.#unknown.set(entityId, system.monotonic() + UNKNOWN_PAUSE)
      return
    }
    const row = 'packs' in outcome ? onlyRow(outcome.packs, entityId) : undefined
    if (!row || 'refused' in outcome) {
      const problem =
        'refused' in outcome
          ? outcome.refused
          : (outcome.summary.reasons[0] ?? 'it is not the metadata of this provider')
      this.#problem = problem
      const { backoff } = this.#failed.get(entityId) ?? { backoff: new Backoff(system, longestPause(url)) }
      backoff.extend()
      this.#failed.set(entityId, { backoff, problem })
      log.warn({ idp: name, url, problem }, 'a metadata query failed')
      return
    }
    const age = Math.min(maxAge * 1000, Math.max(outcome.summary.cacheDuration ?? Infinity, MIN_AGE))
    this.#problem = undefined
    this.#failed.delete(entityId)
    await store.put(name, row, system.now() + age)
    this.#stored++
  }

  #count(network: string | undefined): void {
    const now = this.#deps.system.monotonic()
    if (now - this.#minute.begun >= MINUTE) this.#minute = { begun: now, queries: 0, byNetwork: new Map() }
    const { queries, byNetwork } = this.#minute
    const ofNetwork = network === undefined ? 0 : (byNetwork.get(network) ?? 0)
    if (queries >= MAX_QUERIES || ofNetwork >= MAX_PER_NETWORK)
      throw new Overloaded('Too many unknown identity providers were requested. Try again in a minute.', 60)
    this.#minute.queries++
    if (network !== undefined) byNetwork.set(network, ofNetwork + 1)
  }
}

export const unknownEntity = (federation: string, entityId: string): SsoRefused =>
  refused('unknown-entity', `an identity provider of ${federation}`, entityId)

/** Where a query service has the metadata of an entity: by its id, or by the SHA-1 of that. */
export function queryAddress({ kind, url }: Pick<QueryOptions, 'kind' | 'url'>, entityId: string): string {
  const id = kind === 'mdq' ? entityId : `{sha1}${createHash('sha1').update(entityId).digest('hex')}`
  return `${url}${url.endsWith('/') ? '' : '/'}entities/${encodeURIComponent(id)}`
}

/**
 * The row if the document contains exactly one entity, with the requested id: with another id, an address could stand for another provider.
 */
function onlyRow(packs: readonly Uint8Array[], entityId: string): EntityRow | undefined {
  const rows = packs.flatMap(pack => JSON.parse(Buffer.from(pack).toString('utf8')) as EntityRow[])
  const [row, ...more] = rows
  return row?.[0] === entityId && more.length === 0 ? row : undefined
}
