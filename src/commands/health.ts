import type { Milliseconds } from '../base/units.ts'
import { type Command, print, printError, settingsUsage } from '../core/command.ts'
import { readSettings } from './settings-options.ts'

const TIMEOUT: Milliseconds = 4000

/** Where a service that listens on all addresses is reached from this machine. */
const own: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

export const health: Command = {
  name: 'health',
  usage: settingsUsage,
  summary: 'Asks the service on this machine whether it responds; for health checks of containers.',
  async run(args) {
    const { settings } = readSettings(args).loaded
    const listening = settings['service.http.host']
    const host = own.get(listening) ?? listening
    const place = `${host.includes(':') ? `[${host}]` : host}:${settings['service.http.port']}`
    try {
      const { status } = await fetch(`http://${place}/management/health`, { signal: AbortSignal.timeout(TIMEOUT) })
      if (status === 200) {
        print(`The service at ${place} responds.`)
        return 0
      }
      printError(`stowage health: the service at ${place} responds with ${status}`)
    } catch (error) {
      printError(`stowage health: no service responds at ${place}: ${reasonOf(error)}`)
    }
    return 1
  },
}

/** `fetch` says only that it failed, and gives the reason as the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message : message
}
