import type { Metric } from '../../http/metrics.ts'
import type { VirusScan } from './virus-scan.ts'

export const virusScanMetrics = (virusScan: Pick<VirusScan, 'counts'>): readonly Metric[] => [
  {
    kind: 'counter',
    name: 'virus_scans_total',
    help: 'Files scanned for viruses, by result.',
    read: ['result', () => virusScan.counts],
  },
]
