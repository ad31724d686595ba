import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { HangUp } from '../assembly/hang-up.ts'
import type { Server } from '../assembly/server.ts'
import { version } from '../assembly/version.ts'
import { type Command, print } from './command.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

/** Time for requests in progress after draining; supervisors must wait longer before SIGKILL. */
const DRAIN = 25_000

export const serve: Command = {
  name: 'serve',
  usage: settingsUsage,
  summary: 'Runs the service until it receives SIGTERM or SIGINT. SIGHUP reads the settings again.',
  async run(args) {
    keepWithoutReaders()
    const hangUp = new HangUp()
    const { loaded, environment, file, sources } = readSettings(args)
    const { settings, warnings } = loaded
    const log = createLog(settings['service.log.level'])
    for (const warning of warnings) log.warn(warning)

    const { adminPassword, tokenKey } = environment
    // Not loaded for commands that start no service.
    const { createServer } = await import('../assembly/server.ts')
    const server = await createServer(settings, {
      system: realSystem,
      log,
      adminPassword,
      tokenKey,
      version,
      sources,
      reread: () => readSettings(args).loaded,
    })
    const stopped = Promise.race([stopSignal(), hangUp.ofTerminal])
    const base = await listen(server)
    const source = file === undefined ? 'built-in settings' : `settings from ${file}`
    print(`Stowage ${version} serves ${base} with ${source} and keeps its data in ${server.dataPlace}`)
    if (!server.adminHasPassword) {
      print('admin has no password yet; to set one, stop the service and start it with SERVICE_ADMIN_PASSWORD=…')
    }
    hangUp.onReload(() => void server.reload())
    log.info({ base, signal: await stopped }, 'stopping')
    const status = await close(server, settings['service.http.drain-time'] + DRAIN)
    log.info({ status }, status === 0 ? 'stopped' : 'stopped, but requests were still in progress')
    return status
  },
}

/**
 * A reader of the output may end before the service: without listeners it would end the service as well. Using the streams also makes
 * their descriptors non-blocking, so that no write waits for a reader that takes nothing (D35.32).
 */
function keepWithoutReaders(): void {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
}

/** A server that cannot listen releases its data folder before it gives up. */
async function listen(server: Server): Promise<string> {
  try {
    return await server.listen()
  } catch (error) {
    await server.close()
    throw error
  }
}

const stopSignal = (): Promise<NodeJS.Signals> =>
  new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve)
  })

async function close(server: Server, most: Milliseconds): Promise<number> {
  const overdue = new Promise<number>(resolve => {
    setTimeout(() => resolve(1), most).unref()
  })
  return await Promise.race([server.close().then(() => 0), overdue])
}
