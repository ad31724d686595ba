import type { ScheduledJob } from '../base/scheduled-jobs.ts'
import type { Core } from '../core/core.ts'
import type { Feature, Running } from '../core/feature.ts'
import type { Reload } from '../core/reload.ts'
import type { Offer } from '../http/interface/route.ts'
import type { Metric } from '../http/metrics.ts'

/** The features that the settings switch on. */
export interface OpenFeatures {
  readonly offers: readonly Offer[]
  readonly jobs: readonly ScheduledJob[]
  readonly metrics: readonly Metric[]
  readonly reloads: readonly Reload[]
  /** Members of the extended status of the service. */
  readonly status: () => Promise<Readonly<Record<string, unknown>>>
  /** Called before any request: repairs what a crash has left. */
  readonly recover: (isExclusive: boolean) => Promise<void>
  /** Called when requests are served. */
  readonly begin: () => void
  /** Called when the service stops, beside the end of requests. */
  readonly stop: () => Promise<void>
  /** Later features first, because they use earlier ones. */
  readonly close: () => Promise<void>
}

/** Opens the features in their order. */
export async function openFeatures(features: readonly Feature[], core: Core): Promise<OpenFeatures> {
  const services = new Map<Feature, object | undefined>()
  const opened: Running[] = []
  for (const feature of features) {
    const one = await feature.open(core, servicesOf(feature, services))
    services.set(feature, one?.services)
    if (one) opened.push(one)
  }
  return {
    offers: opened.flatMap(({ offers }) => offers),
    jobs: opened.flatMap(({ jobs = [] }) => jobs),
    metrics: opened.flatMap(({ metrics = [] }) => metrics),
    reloads: opened.flatMap(({ reload }) => reload ?? []),
    status: async () => Object.assign({}, ...(await Promise.all(opened.map(async ({ status }) => await status?.())))),
    async recover(isExclusive) {
      for (const { recover } of opened) await recover?.(isExclusive)
    },
    begin() {
      for (const { begin } of opened) begin?.()
    },
    async stop() {
      await Promise.all(opened.map(async ({ stop }) => await stop?.()))
    },
    async close() {
      for (const { close } of opened.toReversed()) await close?.()
    },
  }
}

/** The services of the features that this one needs. @throws {TypeError} when one of them comes later in the list */
function servicesOf({ name, needs }: Feature, opened: ReadonlyMap<Feature, object | undefined>) {
  return Object.fromEntries(
    Object.entries(needs).map(([key, needed]) => {
      if (!opened.has(needed)) throw new TypeError(`${name} needs ${needed.name}, which comes later in features.ts`)
      return [key, opened.get(needed)]
    }),
  )
}
