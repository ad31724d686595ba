import { MAX_CONTEXTS, type StorageUsage } from '../../files/storage-usage.ts'
import type { Metric } from '../../http/metrics.ts'

/** How full the store is, as metrics. */
export const storageMetrics = (storageUsage: Pick<StorageUsage, 'measure'>): readonly Metric[] => [
  {
    kind: 'gauge',
    name: 'stored_bytes',
    help: 'Bytes of all files.',
    read: async () => (await storageUsage.measure()).total,
  },
  {
    kind: 'gauge',
    name: 'context_bytes',
    help: `Bytes of the ${MAX_CONTEXTS} fullest contexts.`,
    read: [
      'context',
      async () =>
        Object.fromEntries((await storageUsage.measure()).contexts.map(({ context, used }) => [context, used])),
    ],
  },
  {
    kind: 'gauge',
    name: 'contexts_filled',
    help: 'Contexts that have reached this percentage of their quota.',
    read: [
      'percent',
      async () =>
        Object.fromEntries((await storageUsage.measure()).filled.map(({ percent, count }) => [percent, count])),
    ],
  },
]
