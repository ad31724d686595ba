import { parseStored } from '../../base/json.ts'
import { withinTimeout } from '../../base/times.ts'
import type { Milliseconds, Seconds } from '../../base/units.ts'
import type { Database } from '../../stores/database.ts'
import { sql } from '../../stores/sql.ts'
import type { System } from '../../base/system.ts'
import type { Log } from '../../base/log.ts'
import { readDocument } from '../../base/fetch.ts'
import { MetadataRefused, refused } from './refusal.ts'
import { metadataLimits } from './xml.ts'

interface MetadataCopy<Metadata> {
  readonly metadata: Metadata
  /** Wall clock. */
  readonly loadedAt: Milliseconds
}

/** The last valid metadata of each provider, stored in parsed form (D8.6). */
export class MetadataCopies<Metadata> {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** `undefined` also when the copy came from another address. */
  async find(provider: string, url: string): Promise<MetadataCopy<Metadata> | undefined> {
    const row = await this.#database.get<{ metadata: string; loaded: number }>(
      sql`SELECT metadata, loaded FROM sso_metadata WHERE provider = ${provider} AND url = ${url}`,
    )
    return row && { metadata: parseStored<Metadata>(row.metadata), loadedAt: row.loaded }
  }

  async store(provider: string, url: string, { metadata, loadedAt }: MetadataCopy<Metadata>): Promise<void> {
    await this.#database.run(sql`INSERT INTO sso_metadata (provider, url, metadata, loaded)
      VALUES (${provider}, ${url}, ${JSON.stringify(metadata)}, ${loadedAt})
      ON CONFLICT (provider) DO UPDATE SET url = excluded.url, metadata = excluded.metadata, loaded = excluded.loaded`)
  }
}

const FIRST_PAUSE: Milliseconds = 1_000
/** An address has limits of its own, a file has none. */
const LONGEST_PAUSE = { ofAddress: 60_000, ofFile: 10_000 } as const

/** The longest pause between attempts to read a document. */
export const longestPause = (url: string): Milliseconds =>
  url.startsWith('file:') ? LONGEST_PAUSE.ofFile : LONGEST_PAUSE.ofAddress

/** Pauses between attempts: a second, then each time twice as long, up to a limit. After a long quiet time they begin anew. */
export class Backoff {
  readonly #system: System
  readonly #longest: Milliseconds
  /** Monotonic. */
  #last: Milliseconds = -Infinity
  #pause: Milliseconds = 0

  constructor(system: System, longest: Milliseconds) {
    this.#system = system
    this.#longest = longest
  }

  /** Whether the next attempt may be made. */
  get isOver(): boolean {
    return this.#quiet() >= this.#pause
  }

  /** Notes an attempt. */
  extend(): void {
    const isNew = this.#pause === 0 || this.#quiet() >= 2 * this.#longest
    this.#pause = isNew ? FIRST_PAUSE : Math.min(2 * this.#pause, this.#longest)
    this.#last = this.#system.monotonic()
  }

  /** Forgets all attempts. */
  end(): void {
    this.#pause = 0
  }

  #quiet(): Milliseconds {
    return this.#system.monotonic() - this.#last
  }
}

/** The members that the metadata of every protocol have. */
export interface ProviderMetadata {
  /** Name of the provider: entity id or issuer. */
  readonly entityId: string
  /** The keys that sign its messages, each as one text. */
  readonly keys: readonly string[]
  readonly certificates: ReadonlyArray<{
    readonly subject: string
    readonly sha256: string
    readonly expires: Milliseconds
  }>
  /** When the document ends, wall clock. */
  readonly validUntil?: Milliseconds | undefined
}

export interface MetadataSourceOptions {
  /** Name of the identity provider, for the log. */
  readonly idp: string
  /** https, file, or http on this machine. */
  readonly url: string
  readonly maxAge: Seconds
  /** Public keys, PEM, that sign the document; empty: it need not be signed. */
  readonly signedBy?: readonly string[]
}

interface Dependencies<Known> {
  readonly system: System
  readonly log: Log
  /** Off the event loop: a document can have 8 MiB. @throws when the document cannot be used */
  readonly parse: (text: string, now: Milliseconds) => Promise<Known>
  /** Copies that survive a restart; absent where nothing is stored. */
  readonly copies?: MetadataCopies<Known> | undefined
}

/** The state of a provider's metadata, for administrators. */
interface MetadataStatus<Known> {
  readonly url: string
  /** Wall clock. */
  readonly loadedAt: Milliseconds | undefined
  readonly metadata: Known | undefined
  /** Why the last attempt failed, if it did; a code of its own stands before the reason. */
  readonly problem: string | undefined
}

/** The metadata of one provider as its service uses them. */
export type Metadata<Known extends ProviderMetadata> = Pick<
  MetadataSource<Known>,
  'current' | 'reloadForUnknownKey' | 'status' | 'warnOfExpiry'
>

const LOAD_TIMEOUT: Milliseconds = 10_000
/** How long a request waits for fresh metadata when there is a usable copy. */
export const REFRESH_TIMEOUT: Milliseconds = 1_000

const DAY: Milliseconds = 86_400_000
/** Days left at which administrators are warned of the end of a certificate. */
const WARNINGS = [30, 7, 1, -1]

/**
 * The metadata of one provider of any protocol (D8.6). They are loaded when first needed, and again by the first request after the maximum
 * age. One load runs at a time. A request waits for it only if there is no valid copy, or for at most {@link REFRESH_TIMEOUT}; after that
 * the load goes on in the background. The last valid copy is stored, so that a restart does not depend on the provider.
 */
export class MetadataSource<Known extends ProviderMetadata> {
  readonly #options: MetadataSourceOptions
  readonly #deps: Dependencies<Known>
  #metadata: Known | undefined
  /** Monotonic, for the age. */
  #loaded: Milliseconds = -Infinity
  #loadedAt: Milliseconds | undefined
  readonly #afterFailure: Backoff
  readonly #betweenEarly: Backoff
  #problem: Pick<MetadataRefused, 'check' | 'message'> | undefined
  /** By certificate, the last of the {@link WARNINGS} that was given. */
  readonly #warned = new Map<string, number>()
  #loading: Promise<void> | undefined
  #restoring: Promise<void> | undefined

  constructor(options: MetadataSourceOptions, deps: Dependencies<Known>) {
    this.#options = options
    this.#deps = deps
    const longest = longestPause(options.url)
    this.#afterFailure = new Backoff(deps.system, longest)
    this.#betweenEarly = new Backoff(deps.system, longest)
  }

  async status(): Promise<MetadataStatus<Known>> {
    const { check, message } = this.#problem ?? {}
    const problem = check === 'metadata' ? message : this.#problem && `${check}: ${message}`
    return { url: this.#options.url, loadedAt: this.#loadedAt, metadata: this.#metadata, problem }
  }

  /** @throws {SsoRefused} `metadata` when there is no usable copy */
  async current(): Promise<Known> {
    await this.#restore()
    const isOld = this.#age(this.#loaded) >= this.#options.maxAge * 1000
    if ((isOld || !this.#isValid()) && this.#canLoad()) {
      const loading = this.#load()
      await (this.#isValid() && this.#metadata ? withinTimeout(loading, REFRESH_TIMEOUT) : loading)
    }
    const [metadata, problem] = [this.#metadata, this.#problem]
    if (metadata && this.#isValid()) return metadata
    const received = problem?.message ?? (metadata ? 'a copy that is no longer valid' : 'nothing')
    throw refused(problem?.check ?? 'metadata', this.#options.url, received)
  }

  /**
   * Called for a signature by an unknown key: the provider may have a new key, so the document is loaded at once.
   * @param used the copy that the failed check used
   * @returns true if there is a copy with other keys now, so that the check can be repeated; another sign-on may have loaded it meanwhile
   */
  async reloadForUnknownKey(used: Known): Promise<boolean> {
    const hasOthers = (): boolean => this.#metadata !== undefined && this.#metadata.keys.join() !== used.keys.join()
    if (hasOthers()) return true
    // Also after a failure: the response shows that there is something new.
    if (!this.#loading && !this.#betweenEarly.isOver) return false
    if (!this.#loading) this.#betweenEarly.extend()
    await this.#load()
    return hasOthers()
  }

  /** Logs each certificate that is about to expire once at 30, 7 and 1 days, and once when it has expired. */
  warnOfExpiry(): void {
    for (const { subject, sha256, expires } of this.#metadata?.certificates ?? []) {
      const daysLeft = Math.floor((expires - this.#deps.system.now()) / DAY)
      const reached = WARNINGS.findLast(days => daysLeft <= days)
      if (reached === undefined || this.#warned.get(sha256) === reached) continue
      this.#warned.set(sha256, reached)
      const { idp } = this.#options
      this.#deps.log.warn(
        { idp, subject, sha256, daysLeft },
        daysLeft < 0 ? 'a certificate has expired' : 'a certificate expires soon',
      )
    }
  }

  /** A document can end before our maximum age. */
  #isValid(): boolean {
    const end = this.#metadata?.validUntil
    return end === undefined || this.#deps.system.now() < end
  }

  #canLoad(): boolean {
    return this.#loading !== undefined || this.#afterFailure.isOver
  }

  /** Reads the stored copy, once per process. It is treated as old, so that fresh metadata are asked for. */
  #restore(): Promise<void> {
    this.#restoring ??= (async () => {
      const { idp } = this.#options
      const copy = await this.#deps.copies?.find(idp, this.#source).catch((error: unknown) => {
        this.#deps.log.error({ idp, err: error }, 'reading the stored metadata failed')
        // The next request reads the copy again.
        this.#restoring = undefined
        return undefined
      })
      this.#metadata ??= copy?.metadata
      this.#loadedAt ??= copy?.loadedAt
    })()
    return this.#restoring
  }

  /** A stored copy is used only if it came from the same address and was signed by the same keys. */
  get #source(): string {
    const { url, signedBy = [] } = this.#options
    return [url, ...signedBy].join('\n')
  }

  #load(): Promise<void> {
    this.#loading ??= this.#loadOnce().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #loadOnce(): Promise<void> {
    const { idp, url } = this.#options
    const { system, log, parse, copies } = this.#deps
    try {
      const text = await readDocument({ url, timeout: LOAD_TIMEOUT, maxBytes: metadataLimits.bytes, verifyTls: true })
      const metadata = await parse(text, system.now())
      if (metadata.keys.join() !== this.#metadata?.keys.join()) this.#betweenEarly.end()
      this.#metadata = metadata
      this.#loaded = system.monotonic()
      this.#loadedAt = system.now()
      this.#problem = undefined
      this.#afterFailure.end()
      this.warnOfExpiry()
      log.info({ idp, url, entityId: metadata.entityId, keys: metadata.keys.length }, 'metadata loaded')
      await copies?.store(idp, this.#source, { metadata, loadedAt: this.#loadedAt })
    } catch (error) {
      this.#afterFailure.extend()
      const check = error instanceof MetadataRefused ? error.check : 'metadata'
      this.#problem = { check, message: (error as Error).message }
      log.error({ idp, url, check, err: error, keepsLastCopy: this.#metadata !== undefined }, 'loading metadata failed')
    }
  }

  #age(since: Milliseconds): Milliseconds {
    return this.#deps.system.monotonic() - since
  }
}
