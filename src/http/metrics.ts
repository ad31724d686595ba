import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Audit, AuditEvent } from '../accounts/audit.ts'
import type { Passwords } from '../accounts/passwords.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { ErrorCode } from '../base/error-codes.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { MAX_CONTEXTS, type StorageUsage } from '../files/storage-usage.ts'
import type { Scrubber } from '../files/scrubber.ts'
import type { CatchUp } from '../search/catch-up.ts'
import type { DiskSpace } from '../stores/disk.ts'
import type { Files } from '../files/files.ts'
import type { VirusScan } from '../files/virus-scan.ts'

/** Values that are read when metrics are requested, not counted as they happen. */
export interface Measured {
  readonly audit: Pick<Audit, 'counts'>
  readonly files: Pick<Files, 'taken'>
  readonly catchUp: Pick<CatchUp, 'isComplete'>
  /** Absent where the service stores nothing in the data folder. */
  readonly disk: Pick<DiskSpace, 'free' | 'size' | 'state'> | undefined
  readonly scrubber: Pick<Scrubber, 'report'>
  readonly storageUsage: Pick<StorageUsage, 'measure'>
  /** Absent where files are not scanned. */
  readonly virusScan: Pick<VirusScan, 'counts'> | undefined
  readonly passwords: Pick<Passwords, 'load'>
  readonly sessions: Pick<Sessions, 'count'>
  readonly system: System
}

interface AnsweredRequest {
  readonly method: string
  /** The pattern of the route, never the requested path, which would create a series for each entry. */
  readonly route: string | undefined
  readonly status: number
  readonly seconds: number
}

/** Counts since the process started. */
export interface Totals {
  readonly requests: number
  /** Requests answered with a status of 500 and above. */
  readonly failures: number
  readonly signIns: number
  readonly refusedSignIns: number
}

/** A metric as the library hands it out. */
interface Counted {
  readonly name: string
  readonly values: ReadonlyArray<{
    readonly value: number
    readonly labels: Readonly<Record<string, string | number | undefined>>
  }>
}

const PREFIX = 'stowage_'
/** From a cached answer to a long upload. */
const SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]
/** Counting reads every session, so concurrent requests share a result. */
const COUNT_TTL: Milliseconds = 30_000

/**
 * Metrics for Prometheus. Events that only HTTP observes are counted here; other values are read from the other modules on
 * request.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #refusals: Counter<'code'>
  readonly #requests: Counter<'method' | 'route' | 'status'>
  readonly #durations: Histogram<'method' | 'route'>
  #measuresProcess = false

  constructor(deps: Measured) {
    const registers = [this.#registry]
    this.#requests = new Counter({
      name: `${PREFIX}http_requests_total`,
      help: 'Answered requests.',
      labelNames: ['method', 'route', 'status'],
      registers,
    })
    this.#durations = new Histogram({
      name: `${PREFIX}http_request_seconds`,
      help: 'From the head of a request to the end of its answer.',
      labelNames: ['method', 'route'],
      buckets: SECONDS,
      registers,
    })
    this.#refusals = new Counter({
      name: `${PREFIX}refusals_total`,
      help: 'Requests refused, by the code of the problem; `quota-exceeded` and `locked-out` among them.',
      labelNames: ['code'],
      registers,
    })
    this.#measureEvents(deps)
    this.#measureUploads(deps)
    this.#measurePasswordChecks(deps)
    this.#measureSessions(deps)
    this.#measureStorage(deps)
    this.#measureDisk(deps)
  }

  answered({ method, route = 'none', status, seconds }: AnsweredRequest): void {
    this.#requests.inc({ method, route, status })
    this.#durations.observe({ method, route }, seconds)
  }

  refused(code: ErrorCode): void {
    this.#refusals.inc({ code })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Everything, in the text format of Prometheus. */
  async render(): Promise<string> {
    this.#measureProcess()
    return await this.#registry.metrics()
  }

  /** How often something has happened since the process started. */
  async totals(): Promise<Totals> {
    this.#measureProcess()
    const all = (await this.#registry.getMetricsAsJSON()) as readonly Counted[]
    const sum = (name: string, counts: (labels: Counted['values'][number]['labels']) => boolean): number =>
      all
        .filter(metric => metric.name === PREFIX + name)
        .flatMap(({ values }) => values.filter(({ labels }) => counts(labels)))
        .reduce((sum, { value }) => sum + value, 0)
    const events = (event: AuditEvent): number => sum('audit_events_total', labels => labels['event'] === event)
    return {
      requests: sum('http_requests_total', () => true),
      failures: sum('http_requests_total', ({ status }) => Number(status) >= 500),
      signIns: events('login'),
      refusedSignIns: events('login-failed'),
    }
  }

  /** Metrics of the process itself, measured from the first reading on: at the latest by `history.ts`, after a minute. */
  #measureProcess(): void {
    if (this.#measuresProcess) return
    this.#measuresProcess = true
    collectDefaultMetrics({ register: this.#registry })
    // Gauges whose names end like counters: checkers of metrics reject them, and the same numbers come by type.
    for (const kind of ['handles', 'requests', 'resources'])
      this.#registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  }

  #measureEvents({ audit }: Measured): void {
    this.#count('audit_events_total', 'Events of the audit log, such as logins by result and lockouts.', 'event', () =>
      Object.fromEntries(audit.counts),
    )
  }

  #measurePasswordChecks({ passwords }: Measured): void {
    this.#gauge('password_checks', 'Passwords being hashed, and requests waiting for it.', 'state', async () => ({
      ...passwords.load,
    }))
  }

  #measureSessions({ sessions, system }: Measured): void {
    let last: { readonly at: Milliseconds; readonly count: number } | undefined
    this.#gauge('live_tokens', 'Logins that are good; as of at most half a minute ago.', undefined, async () => {
      const at = system.monotonic()
      if (!last || at - last.at > COUNT_TTL) last = { at, count: await sessions.count() }
      return { all: last.count }
    })
  }

  #measureUploads({ files, virusScan }: Measured): void {
    this.#count('uploads_total', 'Files taken in.', undefined, () => ({ all: files.taken.count }))
    this.#count('uploaded_bytes_total', 'Bytes of files taken in.', undefined, () => ({ all: files.taken.bytes }))
    if (!virusScan) return
    this.#count('virus_scans_total', 'Files scanned for viruses, by result.', 'result', () => virusScan.counts)
  }

  #measureStorage({ storageUsage, catchUp }: Measured): void {
    this.#gauge('search_index_complete', '1 when every entry is in the search index.', undefined, async () => ({
      all: Number(catchUp.isComplete),
    }))
    const measure = async () => await storageUsage.measure()
    this.#gauge('stored_bytes', 'Bytes of all files.', undefined, async () => ({ all: (await measure()).total }))
    this.#gauge('context_bytes', `Bytes of the ${MAX_CONTEXTS} fullest contexts.`, 'context', async () =>
      Object.fromEntries((await measure()).contexts.map(({ context, used }) => [context, used])),
    )
    this.#gauge('contexts_filled', 'Contexts that have reached this percentage of their quota.', 'percent', async () =>
      Object.fromEntries((await measure()).filled.map(({ percent, count }) => [percent, count])),
    )
  }

  #measureDisk({ disk, scrubber }: Measured): void {
    if (disk) {
      this.#gauge('disk_free_bytes', 'Free space on the disk of the data folder.', undefined, async () => ({
        all: disk.free,
      }))
      this.#gauge('disk_size_bytes', 'Size of the disk of the data folder.', undefined, async () => ({
        all: disk.size,
      }))
      this.#gauge('disk_state', '1 for the present state of the disk: ok, low, full or read-only.', 'state', async () =>
        Object.fromEntries(['ok', 'low', 'full', 'read-only'].map(state => [state, Number(state === disk.state)])),
      )
    }
    const help = 'Files whose stored bytes are missing, damaged, or not verified yet.'
    this.#gauge('files_by_verification', help, 'state', async () => ({ ...(await scrubber.report()) }))
  }

  /** A counter kept elsewhere; with a label, one series for each name that `read` returns. */
  #count(name: string, help: string, label: string | undefined, read: () => Readings): void {
    const counter = new Counter({
      name: `${PREFIX}${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.#registry],
      collect: () => {
        counter.reset()
        for (const [key, value] of Object.entries(read()))
          counter.inc(label === undefined ? {} : { [label]: key }, value)
      },
    })
  }

  #gauge(name: string, help: string, label: string | undefined, read: () => Promise<Readings>): void {
    const gauge = new Gauge({
      name: `${PREFIX}${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.#registry],
      collect: async () => {
        const readings = await read()
        gauge.reset()
        for (const [key, value] of Object.entries(readings))
          gauge.set(label === undefined ? {} : { [label]: key }, value)
      },
    })
  }
}

type Readings = Readonly<Record<string, number>>
