import { SsoRefused } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds, Seconds } from '../../base/units.ts'
import { readDocument } from '../fetch.ts'
import { metadataLimits } from '../xml.ts'
import { type IdpMetadata, parseMetadata } from './metadata.ts'

export interface MetadataSourceOptions {
  /** Name of the identity provider, for the log. */
  readonly idp: string
  /** https, file, or http from this machine. */
  readonly url: string
  readonly maxAge: Seconds
}

/** How it stands with a provider's metadata, for administrators. */
export interface MetadataStatus {
  readonly url: string
  /** Wall clock. */
  readonly loadedAt: Milliseconds | undefined
  readonly metadata: IdpMetadata | undefined
  /** Why the last attempt failed, if it did. */
  readonly problem: string | undefined
}

const TIMEOUT: Milliseconds = 10_000
/** After a failure, and between early reloads, the address is left alone for so long. */
const COOL_DOWN: Milliseconds = 60_000

const DAY: Milliseconds = 86_400_000
/** Days left at which administrators are warned of the end of a certificate. */
const WARNINGS = [30, 7, 1, -1]

/**
 * The metadata of one provider (D8.6): loaded when first needed and again, by the next request, when they are older than
 * the maximum; by one request at a time, while the others wait or go on with the last good copy.
 */
export class MetadataSource {
  readonly #options: MetadataSourceOptions
  readonly #system: System
  readonly #log: Log
  #metadata: IdpMetadata | undefined
  /** Monotonic, for the age. */
  #loaded: Milliseconds | undefined
  #loadedAt: Milliseconds | undefined
  #tried: Milliseconds | undefined
  #problem: string | undefined
  /** By certificate, the last of the {@link WARNINGS} that was given. */
  readonly #warned = new Map<string, number>()
  #loading: Promise<void> | undefined

  constructor(options: MetadataSourceOptions, system: System, log: Log) {
    this.#options = options
    this.#system = system
    this.#log = log
  }

  get status(): MetadataStatus {
    return { url: this.#options.url, loadedAt: this.#loadedAt, metadata: this.#metadata, problem: this.#problem }
  }

  /** @throws {SsoRefused} `metadata` when there is no good copy at all */
  async current(): Promise<IdpMetadata> {
    const isOld = this.#loaded === undefined || this.#age(this.#loaded) >= this.#options.maxAge * 1000
    if ((isOld || !this.#isValid()) && this.#mayTry()) await this.#load()
    const { metadata, problem } = this.status
    if (metadata && this.#isValid()) return metadata
    const received = problem ?? (metadata ? 'a copy that is no longer valid' : 'nothing')
    throw new SsoRefused({ check: 'metadata', expected: this.#options.url, received })
  }

  /** Somebody signed with a key that is not known: the provider may have changed it. True when the keys are others now. */
  async reloadForUnknownKey(): Promise<boolean> {
    if (!this.#mayTry()) return false
    const before = this.#metadata?.keys.join()
    await this.#load()
    return this.#metadata?.keys.join() !== before
  }

  /** Logs each certificate that is about to expire once at 30, 7 and 1 days, and once when it has. */
  warnOfExpiry(): void {
    for (const { subject, sha256, expires } of this.#metadata?.certificates ?? []) {
      const daysLeft = Math.floor((expires - this.#system.now()) / DAY)
      const reached = WARNINGS.findLast(days => daysLeft <= days)
      if (reached === undefined || this.#warned.get(sha256) === reached) continue
      this.#warned.set(sha256, reached)
      const { idp } = this.#options
      this.#log.warn(
        { idp, subject, sha256, daysLeft },
        daysLeft < 0 ? 'a certificate has expired' : 'a certificate expires soon',
      )
    }
  }

  /** A document may end before our maximum age. */
  #isValid(): boolean {
    const end = this.#metadata?.validUntil
    return end === undefined || this.#system.now() < end
  }

  #mayTry(): boolean {
    return this.#loading !== undefined || this.#tried === undefined || this.#age(this.#tried) >= COOL_DOWN
  }

  #load(): Promise<void> {
    this.#loading ??= this.#loadOnce().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #loadOnce(): Promise<void> {
    const { idp, url } = this.#options
    this.#tried = this.#system.monotonic()
    try {
      this.#metadata = parseMetadata(await this.#fetch(), this.#system.now())
      this.#loaded = this.#system.monotonic()
      this.#loadedAt = this.#system.now()
      this.#problem = undefined
      this.warnOfExpiry()
      this.#log.info(
        { idp, url, entityId: this.#metadata.entityId, keys: this.#metadata.keys.length },
        'metadata loaded',
      )
    } catch (error) {
      this.#problem = (error as Error).message
      this.#log.error({ idp, url, err: error, keepsLastCopy: this.#metadata !== undefined }, 'loading metadata failed')
    }
  }

  #fetch(): Promise<string> {
    const { url } = this.#options
    return readDocument({ url, timeout: TIMEOUT, maxBytes: metadataLimits.bytes, verifyTls: true })
  }

  #age(since: Milliseconds): Milliseconds {
    return this.#system.monotonic() - since
  }
}
