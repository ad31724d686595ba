import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createLog, type Log } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { SighupHandler } from './sighup-handler.ts'
import type { Server } from '../assembly/server.ts'
import { commit, version } from '../core/version.ts'
import { type Command, print, settingsUsage } from '../core/command.ts'
import { readSettings } from './settings-options.ts'

/** Time for requests in progress after draining; supervisors must wait longer before SIGKILL. */
const DRAIN = 25_000
/**
 * Node.js cuts small buffers from a common buffer of this size, which stays in memory as long as any of them. With the default of 64 KB, a
 * zip of 10,000 compressed files keeps 200 MB for their names.
 */
const POOL_SIZE: Bytes = 8192

export const serve: Command = {
  name: 'serve',
  usage: settingsUsage,
  summary: 'Runs the service until it receives SIGTERM or SIGINT. SIGHUP reads the settings again.',
  async run(args) {
    Buffer.poolSize = POOL_SIZE
    const sighup = new SighupHandler()
    const { loaded, environment, file, sources } = readSettings(args)
    const { settings, warnings } = loaded
    const log = createLog(settings['service.log.level'])
    for (const { text } of warnings) log.warn(text)

    const { adminPassword, tokenKey } = environment
    // Not loaded for commands that start no service.
    const { createServer } = await import('../assembly/server.ts')
    const server = await createServer(settings, {
      system: realSystem,
      log,
      adminPassword,
      tokenKey,
      version,
      commit,
      sources,
      reread: () => readSettings(args).loaded,
    })
    const stopped = Promise.race([stopSignal(), sighup.ofTerminal])
    const base = await listen(server)
    if (environment.notifySocket !== undefined) await notifyReady(log)
    const source = file === undefined ? 'built-in settings' : `settings from ${file}`
    print(`Stowage ${version} serves ${base} with ${source} and keeps its data in ${server.dataPlace}`)
    if (!server.adminHasPassword) {
      print('admin has no password yet: set one by `stowage user add admin --admin --password`')
    }
    sighup.onReload(() => void server.reload())
    log.info({ base, signal: await stopped }, 'stopping')
    const status = await close(server, settings['service.http.drain-time'] + DRAIN)
    log.info({ status }, status === 0 ? 'stopped' : 'stopped, but requests were still in progress')
    return status
  },
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

/** Tells systemd that the start is over (`Type=notify`). Node.js has no sockets of the kind that this takes, but systemd has a program. */
async function notifyReady(log: Log): Promise<void> {
  await promisify(execFile)('systemd-notify', ['--ready']).catch((err: unknown) =>
    log.warn({ err }, 'systemd cannot be told that the service is ready'),
  )
}

export const stopSignal = (): Promise<NodeJS.Signals> =>
  new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve)
  })

async function close(server: Server, most: Milliseconds): Promise<number> {
  const overdue = new Promise<number>(resolve => {
    setTimeout(() => resolve(1), most).unref()
  })
  return await Promise.race([server.close().then(() => 0), overdue])
}
