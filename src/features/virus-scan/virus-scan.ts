import { Semaphore } from '../../base/semaphore.ts'
import { Overloaded, TooLarge } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { timed } from '../../base/request-timings.ts'
import type { System } from '../../base/system.ts'
import { type Bytes, type Milliseconds, UNLIMITED } from '../../base/units.ts'
import type { BlobStore } from '../../stores/blob-store.ts'
import { type Clamd, ScannerFailure, type ScanResult } from './clamd.ts'
import { FileInfected, type FileScanner, type ScannedFile } from '../../files/file-scanner.ts'

export interface VirusScanOptions {
  /** Larger files are not sent to the scanner; -1: all are. */
  readonly maxSize: Bytes
  /** What happens to files that the scanner cannot scan, because it fails or they are too large. */
  readonly unscanned: 'reject' | 'store'
}

/** A file in which the scanner has found malicious software. */
interface InfectedFile extends Pick<ScannedFile, 'context' | 'entry' | 'size' | 'sha256' | 'sender'> {
  /** The name of the signature. */
  readonly signature: string
}

interface Dependencies {
  readonly blobs: Pick<BlobStore, 'read'>
  readonly clamd: Clamd
  readonly system: System
  readonly log: Log
  /** Called before the file is rejected. Must not reject. */
  readonly onInfected: (found: InfectedFile) => Promise<void>
}

/** How a scan ended; `failed`: without a result. */
type ScanOutcome = ScanResult['kind'] | 'failed'

/** Files that a process has scanned at once: fewer than the threads of clamd, of which there are ten by default, so that other users of clamd get some. */
const MAX_CONCURRENT = 4

/** Uploads that may wait for a scan. */
const MAX_WAITING = 1000

/** After a timeout no scan is tried for this time, so that uploads that wait do not each wait for another one. */
const PAUSE: Milliseconds = 5000

/** Has files scanned before they become visible (D32.1). */
export class VirusScan implements FileScanner {
  readonly #deps: Dependencies
  readonly #options: VirusScanOptions
  readonly #semaphore: Semaphore
  readonly #counts: Record<ScanOutcome, number> = { clean: 0, infected: 0, 'too-large': 0, failed: 0 }
  /** Monotonic time. */
  #pausedUntil: Milliseconds = 0

  constructor(deps: Dependencies, options: VirusScanOptions) {
    this.#deps = deps
    this.#semaphore = new Semaphore({ concurrency: MAX_CONCURRENT, queue: MAX_WAITING, what: 'virus scans' })
    this.#options = options
  }

  /** How many scans ended how since the process started. */
  get counts(): Readonly<Record<ScanOutcome, number>> {
    return this.#counts
  }

  requireScannable(size: Bytes): void {
    const { unscanned, maxSize } = this.#options
    if (unscanned === 'store' || maxSize === UNLIMITED || size <= maxSize) return
    this.#counts['too-large']++
    throw tooLargeToScan(size, maxSize)
  }

  /** Contexts are served round-robin, so one that receives many files does not delay the others. */
  async require(file: ScannedFile): Promise<void> {
    const result = await this.#scan(file)
    const kind = result?.kind ?? 'failed'
    this.#counts[kind]++
    if (result?.kind === 'infected') {
      const { context, entry, size, sha256, sender } = file
      await this.#deps.onInfected({ context, entry, size, sha256, sender, signature: result.signature })
      throw new FileInfected(result.signature)
    }
    if (kind === 'too-large') this.#requireLarge(file)
    if (kind === 'failed') this.#requireUnscanned(file)
  }

  /** `undefined` if there was no result. */
  async #scan({ blob, size, context, signal }: ScannedFile): Promise<ScanResult | undefined> {
    const { maxSize } = this.#options
    if (maxSize !== UNLIMITED && size > maxSize) return { kind: 'too-large' }
    const { blobs, clamd, system, log } = this.#deps
    const work = async (): Promise<ScanResult | undefined> => {
      signal.throwIfAborted()
      if (system.monotonic() < this.#pausedUntil) return undefined
      const bytes = await blobs.read(blob)
      try {
        return await timed('files', 'virus scan', () => clamd.scan(bytes, signal))
      } catch (error) {
        if (!(error instanceof ScannerFailure)) throw error
        log.error({ err: error, context }, 'the virus scanner gave no result')
        if (error.isTimeout) this.#pausedUntil = system.monotonic() + PAUSE
        return undefined
      } finally {
        bytes.destroy()
      }
    }
    return await this.#semaphore.run(work, { of: context })
  }

  #requireLarge({ context, entry, size }: ScannedFile): void {
    const { unscanned, maxSize } = this.#options
    if (unscanned === 'store') {
      this.#deps.log.warn({ context, entry, size }, 'a file too large for the virus scanner was stored without a scan')
      return
    }
    throw tooLargeToScan(size, maxSize === UNLIMITED || size <= maxSize ? size - 1 : maxSize)
  }

  #requireUnscanned({ context, entry, size }: ScannedFile): void {
    if (this.#options.unscanned === 'store') {
      this.#deps.log.warn(
        { context, entry, size },
        'a file was stored without a virus scan, because the scanner failed',
      )
      return
    }
    throw new Overloaded('The virus scanner does not respond. Nothing was stored.', 5, 'scan-unavailable')
  }
}

const tooLargeToScan = (size: Bytes, limit: Bytes): TooLarge =>
  new TooLarge('too-large-to-scan', `A file of ${size} bytes is too large for the virus scanner.`, { extra: { limit } })
