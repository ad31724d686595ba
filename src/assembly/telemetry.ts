import type { Metrics } from '../http/metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { readTelemetryVariables } from '../telemetry/variables.ts'
import type { RuntimeEnvironment } from './machine.ts'

/** `undefined`, with no library loaded, unless OpenTelemetry's variables ask for telemetry. */
export async function startTelemetry(
  { sources, version, system, log }: RuntimeEnvironment,
  metrics: Metrics,
): Promise<Telemetry | undefined> {
  const options = readTelemetryVariables(sources?.environment ?? {})
  if (!options) return undefined
  const { Telemetry } = await import('../telemetry/telemetry.ts')
  return new Telemetry(options, { readMetrics: () => metrics.read(), version, system, log })
}
