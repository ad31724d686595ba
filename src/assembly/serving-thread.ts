import { parentPort, workerData } from 'node:worker_threads'
import { pino } from 'pino'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import { loadSettings, type SettingsSources } from '../config/load.ts'
import { READY } from '../threads/thread-channel.ts'
import { WorkerThread, type WorkerStart } from '../threads/worker-thread.ts'
import { createServer } from './server.ts'

/** What each serving thread but the first runs. */

const start = workerData as WorkerStart & { readonly extra: SettingsSources }
if (!parentPort) throw new Error('this module is for a thread')
const team = new WorkerThread(parentPort, start)
// The problems and warnings of the settings have been reported by the main thread.
const { settings } = loadSettings(start.extra)
// To the descriptor itself: the standard error of a thread goes by way of the main thread, and not at all once that is busy.
const log = createLog(settings['service.log.level'], pino.destination({ dest: 2, sync: true }))
const { tokenKey, version } = start.data
const server = await createServer(
  settings,
  { system: realSystem, log, adminPassword: undefined, tokenKey, version },
  team,
)
team.answer('drain', () => server.drain())
team.answer('stop', () => server.close())
await server.listen()
parentPort.postMessage(READY)
