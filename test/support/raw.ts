import { connect } from 'node:net'

/** Sends these very bytes and resolves to all that comes back until the service closes the connection. */
export function exchange(base: string, request: string): Promise<string> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(request))
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

/** A request without a body that asks for the connection to be closed. */
export const line = (method: string, target: string, headers = ''): string =>
  `${method} ${target} HTTP/1.1\r\nHost: any\r\nConnection: close\r\n${headers}\r\n`

export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])
