import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

export interface Heard {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The fields of a form. */
  readonly form: Readonly<Record<string, string>>
}

export interface Listener {
  /** Without a slash at the end. */
  readonly origin: string
  /** The requests so far. */
  readonly heard: readonly Heard[]
}

/** A small server of the test's own on 127.0.0.1; `reply` answers, by default with 200 and nothing. */
export async function listen(
  t: { after(work: () => Promise<void>): void },
  reply: (heard: Heard, response: ServerResponse) => void = (_, response) => response.end(),
): Promise<Listener> {
  const heard: Heard[] = []
  let origin = ''
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const form = Object.fromEntries(new URLSearchParams(body))
      const one = { method, url: new URL(origin + url), headers, body, form }
      heard.push(one)
      reply(one, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a socket without a port')
  origin = `http://127.0.0.1:${address.port}`
  t.after(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return { origin, heard }
}
