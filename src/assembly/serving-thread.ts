import { parentPort, workerData } from 'node:worker_threads'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import { loadSettings, type SettingsSources } from '../config/load.ts'
import { READY } from '../threads/thread-channel.ts'
import { WorkerThread } from '../threads/worker-thread.ts'
import { createServer } from './server.ts'

/** The module of each serving thread except the first. */

if (!parentPort) throw new Error('this module is for a thread')
const team = await WorkerThread.of(parentPort)
// The main thread has already reported the problems and warnings of the settings.
const { settings } = loadSettings(workerData as SettingsSources)
const log = createLog(settings['service.log.level'])
const { tokenKey, version } = team.data
const server = await createServer(
  settings,
  { system: realSystem, log, adminPassword: undefined, tokenKey, version },
  team,
)
team.answer('drain', () => server.drain())
team.answer('stop', () => server.close())
await server.listen()
parentPort.postMessage(READY)
