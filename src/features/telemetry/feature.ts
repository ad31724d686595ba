import { feature } from '../../core/feature.ts'
import { telemetrySettings } from './settings.ts'
import { logSlowRequests } from './slow-requests.ts'
import { readTelemetryVariables } from './variables.ts'

/** No library is loaded unless OpenTelemetry's variables ask for telemetry. */
export const telemetry = feature({
  name: 'telemetry',
  settings: telemetrySettings,
  open: async ({ settings, environment, records, metrics, version, system, log }) => {
    records.answered = logSlowRequests(log, () => settings['service.log.slow'])
    const options = readTelemetryVariables(environment)
    if (!options) return {}
    const { Telemetry } = await import('./telemetry.ts')
    const telemetry = new Telemetry(options, { readMetrics: () => metrics.read(), version, system, log })
    records.tracing = telemetry.requests
    return { close: () => telemetry.close() }
  },
})
