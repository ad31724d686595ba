import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Test {
  after(work: () => Promise<void>): void
}

/** Hands everything on to a port of 127.0.0.1, as a web server in front does: under another name. @returns its origin */
export async function startReverseProxy(t: Test, port: number): Promise<string> {
  const server = createServer((received, response) => {
    const { url, method, headers } = received
    const onward = request(
      { host: '127.0.0.1', port, path: url, method, headers: { ...headers, host: 'inside.example' }, agent: false },
      answer => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)),
    )
    onward.on('error', () => response.writeHead(502).end())
    received.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
