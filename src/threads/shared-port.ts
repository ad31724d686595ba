import type { Server, Socket } from 'node:net'
import type { LoadBoard } from './load-board.ts'

/** The part of an HTTP server that is used here. */
export interface HttpServer extends Server {
  closeIdleConnections(): void
}

/**
 * Lets the server share its port with those of other threads. All of them have the same descriptor of the operating system, so none of them
 * closes it: it would be closed for all, and its number might stand for a file by the time that the next thread closed it. After `close` new
 * connections are ended at once, and the descriptor goes with the process.
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

/** The descriptor of a server that listens. Node has no public name for it. */
export function descriptorOf(server: Server): number {
  const { _handle } = server as unknown as { readonly _handle: { readonly fd: number } }
  return _handle.fd
}

/** Accepts connections at the descriptor of another thread's server. */
export async function listenAt(server: Server, fd: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ fd }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}
