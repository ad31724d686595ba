import type { Metric } from '../../http/metrics.ts'
import type { Scrubber } from './scrubber.ts'

export const scrubMetrics = (scrubber: Pick<Scrubber, 'report'>): readonly Metric[] => [
  {
    kind: 'gauge',
    name: 'files_by_verification',
    help: 'Files whose stored bytes are missing, damaged, or not verified yet.',
    read: ['state', async () => ({ ...(await scrubber.report()) })],
  },
]
