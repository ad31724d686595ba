import type { Server, Socket } from 'node:net'
import type { LoadBoard } from './load-board.ts'

/** The part of an HTTP server that is used here. */
export interface HttpServer extends Server {
  closeIdleConnections(): void
}

/**
 * Lets the server share its port with those of other threads. All threads use the same descriptor of the
 * operating system, so none of them closes it: that would close it for all, and its number might already
 * belong to another file when the next thread closes it. After `close`, new connections are ended at once,
 * and the descriptor is closed with the process.
 */
export function sharePort(server: HttpServer, board: LoadBoard): void {
  const open = new Set<Socket>()
  let isClosing = false
  let whenEmpty = (): void => {}
  const unwatch = board.watch(() => open.size)
  server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy()
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      if (isClosing && open.size === 0) whenEmpty()
    })
  })
  server.prependListener('request', (_request: unknown, response: { setHeader(name: string, value: string): void }) => {
    if (board.takeSurplus()) response.setHeader('connection', 'close')
  })
  server.close = callback => {
    isClosing = true
    unwatch()
    whenEmpty = () => callback?.()
    server.closeIdleConnections()
    if (open.size === 0) whenEmpty()
    return server
  }
}

/** For a second listener: what connects after the `close` of its server is ended by that. */
export function keepOpen(second: Server): void {
  second.close = callback => {
    callback?.()
    return second
  }
}

/** The descriptor of a listening server. Node has no public name for it. */
export function descriptorOf(server: Server): number {
  const { _handle } = server as unknown as { readonly _handle: { readonly fd: number } }
  return _handle.fd
}

/** Accepts connections on the descriptor of another thread's server. */
export async function listenAt(server: Server, fd: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ fd }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}
