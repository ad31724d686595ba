import { parentPort } from 'node:worker_threads'
import { READY } from '../../src/threads/thread-channel.ts'

/** A serving thread that is ready, and fails when it is told to. */
parentPort?.on('message', () => {
  throw new Error('this thread has failed')
})
parentPort?.postMessage(READY)
