import { feature } from '../../core/feature.ts'
import { virusScanEvents } from './events.ts'
import { virusScanMetrics } from './metrics.ts'
import { checkVirusScan, createVirusScan } from './scanner.ts'
import { virusScanSettings } from './settings.ts'

export const virusScan = feature({
  name: 'virus-scan',
  settings: virusScanSettings,
  events: virusScanEvents,
  contradictions: [
    {
      keys: ['service.data.virus-scan', 'service.data.virus-scan.failure'],
      warning: 'virus-scan-optional',
      wrong: settings =>
        settings['service.data.virus-scan'] !== undefined && settings['service.data.virus-scan.failure'] === 'store',
      message: 'files are stored without a virus scan while clamd does not respond, and when they are too large for it',
    },
  ],
  openForCommand: core => void (core.files.options.scanner = createVirusScan(core.settings, core)),
  checks: ({ settings }) => checkVirusScan(settings),
  open: core => {
    const scan = createVirusScan(core.settings, core)
    if (!scan) return {}
    core.files.options.scanner = scan
    return { metrics: virusScanMetrics(scan) }
  },
})
