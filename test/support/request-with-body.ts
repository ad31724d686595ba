import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

const MIB = 1_048_576
export type Headers = Readonly<Record<string, string>>

/** A request whose body the test sends. */
export function requestWith(headers: Headers = {}) {
  const state = { destroyed: 0, onDestroyed: (): void => undefined }
  const body = new Readable({ read: () => undefined, highWaterMark: 16 * MIB })
  const socket = Object.assign(new EventEmitter(), {
    destroySoon: () => {
      state.destroyed++
      state.onDestroyed()
    },
  })
  const request = Object.assign(body, { headers, socket, complete: false }) as unknown as IncomingMessage
  return { body, request, state }
}
