import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { type Audit, type AuditEvent, auditEvents } from '../accounts/audit.ts'
import type { Passwords } from '../accounts/passwords.ts'
import type { Sessions } from '../accounts/sessions.ts'
import { type ErrorCode, errorCodes } from '../base/error-codes.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { CatchUp } from '../search/catch-up.ts'
import { type DiskSpace, diskStates } from '../stores/disk.ts'
import type { Files } from '../files/files.ts'

/** A value that a feature keeps, read when metrics are requested. */
export interface Metric {
  readonly kind: 'counter' | 'gauge'
  /** Without `stowage_`. The name of a counter ends in `_total`. */
  readonly name: string
  readonly help: string
  /** One value, or a label and the values by it. */
  readonly read: Reader<number> | ByLabel
}

/** Values that are read when metrics are requested, not counted as they happen. */
export interface Measured {
  readonly audit: Pick<Audit, 'counts'>
  readonly files: Pick<Files, 'taken'>
  readonly catchUp: Pick<CatchUp, 'isComplete'>
  /** Absent where the service stores nothing in the data folder. */
  readonly disk: Pick<DiskSpace, 'free' | 'size' | 'state'> | undefined
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
interface MetricValues {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly values: ReadonlyArray<{
    readonly value: number
    readonly labels: Readonly<Record<string, string | number | undefined>>
    /** Of a histogram: the name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string | undefined
  }>
}

const PREFIX = 'stowage_'
/** The limits of the histogram in seconds: from a cached response to a long upload. */
const DURATION_BUCKETS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]
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
      buckets: DURATION_BUCKETS,
      registers,
    })
    this.#refusals = new Counter({
      name: `${PREFIX}refusals_total`,
      help: 'Requests refused, by the code of the problem; `quota-exceeded` and `locked-out` among them.',
      labelNames: ['code'],
      registers,
    })
    // Each counter begins with 0, because an alarm does not see the increase of a counter that appears with its first value.
    for (const code of Object.keys(errorCodes)) this.#refusals.inc({ code }, 0)
    this.#measureEvents(deps)
    this.#measureUploads(deps)
    this.#measurePasswordChecks(deps)
    this.#measureSessions(deps)
    this.#measureIndex(deps)
    this.#measureDisk(deps)
  }

  answered({ method, route = 'none', status, seconds }: AnsweredRequest): void {
    this.#requests.inc({ method, route, status })
    this.#durations.observe({ method, route }, seconds)
  }

  refused(code: ErrorCode): void {
    this.#refusals.inc({ code })
  }

  /** How many requests were refused with this code since the start. */
  async refusalsWith(code: ErrorCode): Promise<number> {
    const { values } = await this.#refusals.get()
    return values.find(({ labels }) => labels.code === code)?.value ?? 0
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Everything, in the text format of Prometheus. */
  async render(): Promise<string> {
    this.#measureProcess()
    return await this.#registry.metrics()
  }

  /** The values of all metrics. */
  async read(): Promise<readonly MetricValues[]> {
    this.#measureProcess()
    // By its types the library numbers the kinds of metrics; it returns their names.
    return (await this.#registry.getMetricsAsJSON()) as unknown as readonly MetricValues[]
  }

  /** How often something has happened since the process started. */
  async totals(): Promise<Totals> {
    const all = await this.read()
    const sum = (name: string, counts: (labels: MetricValues['values'][number]['labels']) => boolean): number =>
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

  /** Measures the process itself from the first reading on: the history of figures reads after a minute at the latest. */
  #measureProcess(): void {
    if (this.#measuresProcess) return
    this.#measuresProcess = true
    collectDefaultMetrics({ register: this.#registry })
    // Gauges whose names end like counters: checkers of metrics reject them, and the same numbers come by type.
    for (const kind of ['handles', 'requests', 'resources'])
      this.#registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  }

  #measureEvents({ audit }: Measured): void {
    const help = 'Events of the audit log, such as logins by result and lockouts.'
    this.#observe(Counter, 'audit_events_total', help, [
      'event',
      () => Object.fromEntries([...auditEvents.map(event => [event, 0] as const), ...audit.counts]),
    ])
  }

  #measurePasswordChecks({ passwords }: Measured): void {
    const help = 'Passwords being hashed, and requests waiting for it.'
    this.#observe(Gauge, 'password_checks', help, ['state', () => ({ ...passwords.load })])
  }

  #measureSessions({ sessions, system }: Measured): void {
    let last: { readonly at: Milliseconds; readonly count: number } | undefined
    this.#observe(Gauge, 'live_tokens', 'Logins that are good; as of at most half a minute ago.', async () => {
      const at = system.monotonic()
      if (!last || at - last.at > COUNT_TTL) last = { at, count: await sessions.count() }
      return last.count
    })
  }

  #measureUploads({ files }: Measured): void {
    this.#observe(Counter, 'uploads_total', 'Files taken in.', () => files.taken.count)
    this.#observe(Counter, 'uploaded_bytes_total', 'Bytes of files taken in.', () => files.taken.bytes)
  }

  #measureIndex({ catchUp }: Measured): void {
    this.#observe(Gauge, 'search_index_complete', '1 when every entry is in the search index.', () =>
      Number(catchUp.isComplete),
    )
  }

  #measureDisk({ disk }: Measured): void {
    if (!disk) return
    this.#observe(Gauge, 'disk_free_bytes', 'Free space on the disk of the data folder.', () => disk.free)
    this.#observe(Gauge, 'disk_size_bytes', 'Size of the disk of the data folder.', () => disk.size)
    this.#observe(Gauge, 'disk_state', '1 for the present state of the disk: ok, low, full, read-only or missing.', [
      'state',
      () => Object.fromEntries(diskStates.map(state => [state, Number(state === disk.state)])),
    ])
  }

  /** A metric of a feature. */
  add({ kind, name, help, read }: Metric): void {
    this.#observe(kind === 'counter' ? Counter : Gauge, name, help, read)
  }

  /** A value kept elsewhere. @param read one value, or a label and the values by it */
  #observe(Kind: typeof Counter | typeof Gauge, name: string, help: string, read: Reader<number> | ByLabel): void {
    const [label, values] = typeof read === 'function' ? (['', read] as const) : read
    const metric: Counter | Gauge = new Kind({
      name: `${PREFIX}${name}`,
      help,
      labelNames: label === '' ? [] : [label],
      registers: [this.#registry],
      collect: async () => {
        const now = await values()
        metric.reset()
        if (typeof now === 'number') metric.inc(now)
        else for (const [key, value] of Object.entries(now)) metric.inc({ [label]: key }, value)
      },
    })
  }
}

type Reader<T> = () => T | Promise<T>
/** A label, and the values by it. */
type ByLabel = readonly [label: string, read: Reader<Readonly<Record<string, number>>>]
