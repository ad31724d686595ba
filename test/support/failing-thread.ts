import { parentPort } from 'node:worker_threads'
import { READY } from '../../src/threads/thread-channel.ts'

/** A serving thread that is ready when it is started, and fails with the next message. */
parentPort?.once('message', () => {
  parentPort?.on('message', () => {
    throw new Error('this thread has failed')
  })
  parentPort?.postMessage(READY)
})
