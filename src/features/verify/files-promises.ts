import { realSystem } from '../../base/system.ts'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { answerOf, type Client, receivedLength, tell } from './client.ts'
import { broken, CannotCheck, holds, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import { isOwn, type Site } from './site.ts'

const MIB = 2 ** 20
const LARGE = 64 * MIB
/** Longer than the time limits of a hasty proxy, and shorter than those of the files in `deploy/`. */
const PAUSE = 12_000
const TUS = { 'tus-resumable': '1.0.0' }
const PIECE_TYPE = { 'content-type': 'application/offset+octet-stream' }
const UPLOADS = 'how-to/resumable-uploads.md'

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function beginUpload(site: Site, length: number): Promise<{ readonly path: string; readonly file: string }> {
  const context = await site.context()
  const entry = await site.workshop.entry(site.admin, context)
  const answer = await site.admin.ask(`${context}/uploads/${entry}`, {
    method: 'POST',
    headers: { ...TUS, 'upload-length': String(length) },
  })
  const { location = '' } = answer.headers
  if (answer.status !== 201) throw new CannotCheck(`an upload could not be begun: ${tell(answer)}`)
  return { path: new URL(location, site.base).pathname, file: `${context}/resource/${entry}` }
}

async function offsetOf(client: Client, path: string): Promise<number> {
  const { headers } = await client.ask(path, { method: 'HEAD', headers: TUS })
  return Number(headers['upload-offset'])
}

export const filePromises: readonly Promised[] = [
  {
    id: 'files-exact',
    sentence: 'A file comes back byte for byte.',
    page: 'concepts.md',
    check: async site => {
      const bytes = Buffer.from(realSystem.randomBytes(MIB))
      const path = await site.workshop.file(site.admin, await site.context(), bytes)
      const answer = await site.admin.ask(path)
      return holds(answer.bytes.equals(bytes), `${answer.bytes.length} bytes`, 'Let the proxy change no bodies.')
    },
  },
  {
    id: 'large-files',
    sentence: 'A file of 64 MiB is uploaded and downloaded whole.',
    page: 'how-to/reverse-proxy.md',
    check: async site => {
      const context = await site.context()
      const entry = await site.workshop.entry(site.admin, context)
      const path = `${context}/resource/${entry}`
      const bytes = Buffer.from(realSystem.randomBytes(LARGE))
      const put = await site.admin.ask(path, {
        method: 'PUT',
        body: bytes,
        headers: { 'content-type': 'application/octet-stream' },
      })
      if (put.status === 413 && isOwn(put)) return unchecked(`the service itself allows less: ${tell(put)}`)
      if (put.status !== 201)
        return broken(tell(put), 'Remove the limit of the proxy on the size of uploads (client_max_body_size 0).')
      const answer = await site.admin.ask(path)
      return holds(
        digest(answer.bytes) === digest(bytes),
        `${answer.bytes.length} of ${LARGE} bytes came back`,
        'Let the proxy change no bodies, and end no long responses.',
      )
    },
  },
  {
    id: 'digest',
    sentence: 'The ETag of a file is its SHA-256 digest.',
    page: 'concepts.md#conditional-requests',
    check: async site => {
      const { path, bytes } = await site.file()
      const { headers } = await site.admin.ask(path)
      return holds(
        String(headers.etag).includes(digest(bytes).slice(0, 16)),
        headers.etag ?? 'no ETag',
        'Let the proxy pass ETag on unchanged.',
      )
    },
  },
  {
    id: 'head',
    sentence: 'HEAD tells the size of a file.',
    page: 'concepts.md',
    check: async site => {
      const { path, bytes } = await site.file()
      const answer = await site.admin.ask(path, { method: 'HEAD' })
      return holds(
        answer.headers['content-length'] === String(bytes.length),
        `Content-Length: ${answer.headers['content-length'] ?? 'missing'}`,
        'Let the proxy pass Content-Length of HEAD on.',
      )
    },
  },
  {
    id: 'resumable',
    sentence: 'An upload goes on where a broken connection has left it.',
    page: UPLOADS,
    check: async site => {
      const bytes = Buffer.from(realSystem.randomBytes(4 * MIB))
      const { path, file } = await beginUpload(site, bytes.length)
      const half = bytes.subarray(0, 2 * MIB)
      const sent = site.admin.begin(path, {
        method: 'PATCH',
        headers: { ...TUS, ...PIECE_TYPE, 'upload-offset': '0', 'content-length': String(bytes.length) },
      })
      sent.on('error', () => {})
      sent.write(half)
      const client = site.admin
      // A proxy that buffers uploads has passed nothing on when the connection breaks.
      await setTimeout(500)
      sent.destroy()
      let offset = 0
      for (let count = 0; count < 25 && !(offset > 0); count++) {
        await setTimeout(200)
        offset = await offsetOf(client, path)
      }
      if (!(offset > 0))
        return broken(
          'nothing of the first half was kept',
          'Switch buffering of uploads off (proxy_request_buffering off).',
        )
      const rest = await client.ask(path, {
        method: 'PATCH',
        body: bytes.subarray(offset),
        headers: { ...TUS, ...PIECE_TYPE, 'upload-offset': String(offset) },
      })
      const answer = await client.ask(file)
      return holds(
        rest.status === 204 && answer.bytes.equals(bytes),
        `${offset} bytes were kept, then ${tell(rest)}`,
        'Let the proxy pass PATCH and the headers Upload-Offset and Tus-Resumable on.',
      )
    },
  },
  {
    id: 'pieces',
    sentence: 'A resumable upload in several requests gives the file.',
    page: UPLOADS,
    check: async site => {
      const bytes = Buffer.from(realSystem.randomBytes(300_000))
      const { path, file } = await beginUpload(site, bytes.length)
      for (let offset = 0; offset < bytes.length; offset += 100_000) {
        const answer = await site.admin.ask(path, {
          method: 'PATCH',
          body: bytes.subarray(offset, offset + 100_000),
          headers: { ...TUS, ...PIECE_TYPE, 'upload-offset': String(offset) },
        })
        if (answer.status !== 204) return broken(tell(answer), 'Let the proxy pass PATCH on.')
      }
      return holds((await site.admin.ask(file)).bytes.equals(bytes), 'three pieces', 'Let the proxy change no bodies.')
    },
  },
  {
    id: 'unknown-length',
    sentence: 'An upload whose length is not known before its end is accepted.',
    page: 'concepts.md',
    check: async site => {
      const context = await site.context()
      const path = `${context}/resource/${await site.workshop.entry(site.admin, context)}`
      const sent = site.admin.begin(path, {
        method: 'PUT',
        headers: { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' },
      })
      const answer = answerOf(sent)
      sent.write('one ')
      sent.end('two')
      const put = await answer
      return holds(
        put.status === 201 && (await site.admin.ask(path)).text === 'one two',
        tell(put),
        'Let the proxy pass chunked requests on.',
      )
    },
  },
  {
    id: 'slow-upload',
    runs: 'beside',
    sentence: 'An upload survives a pause of twelve seconds.',
    page: 'how-to/reverse-proxy.md',
    check: async site => {
      const context = await site.context()
      const path = `${context}/resource/${await site.workshop.entry(site.admin, context)}`
      const sent = site.admin
        .twin()
        .begin(path, { method: 'PUT', headers: { 'content-type': 'text/plain', 'content-length': '200000' } })
      const answer = answerOf(sent).then(tell, (error: unknown) => (error as Error).message)
      sent.on('error', () => {})
      sent.write(Buffer.alloc(100_000))
      await setTimeout(PAUSE)
      sent.end(Buffer.alloc(100_000))
      const seen = await answer
      return holds(
        seen.startsWith('201'),
        seen,
        'Raise the time limit of the proxy on the bodies of requests (client_body_timeout 30s).',
      )
    },
  },
  {
    id: 'slow-download',
    runs: 'beside',
    sentence: 'A download survives a client that pauses for twelve seconds.',
    page: 'how-to/reverse-proxy.md',
    check: async site => {
      const bytes = Buffer.from(realSystem.randomBytes(24 * MIB))
      const path = await site.workshop.file(site.admin, await site.context(), bytes)
      const sent = site.admin.twin().begin(path)
      sent.end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      await setTimeout(PAUSE)
      const length = await receivedLength(response)
      return holds(
        length === bytes.length,
        `${length} of ${bytes.length} bytes`,
        'Raise the time limit of the proxy on responses (send_timeout 30s, proxy_read_timeout 120s).',
      )
    },
  },
  {
    id: 'zip',
    sentence: 'A folder or several files can be downloaded as one zip.',
    page: 'ui.md',
    check: async site => {
      const { path } = await site.file()
      const [context = '', , entry = ''] = path.split('/')
      const answer = await site.admin.ask(`${context}/zip?entries=${entry}`)
      return holds(
        answer.status === 200 && answer.bytes.subarray(0, 2).toString() === 'PK',
        tell(answer),
        'Let the proxy pass responses of unknown length on.',
      )
    },
  },
  {
    id: 'active-files',
    sentence: 'A file with scripts cannot act in the name of the user who opens it.',
    page: 'how-to/reverse-proxy.md#a-second-address-for-active-files',
    check: async site => {
      const path = await site.workshop.file(
        site.admin,
        await site.context(),
        Buffer.from('<script>alert(1)</script>'),
        { 'content-type': 'text/html' },
      )
      const { headers, status } = await site.admin.ask(path, { headers: { accept: 'text/html' } })
      const isElsewhere = status >= 300 && new URL(headers.location ?? '', site.base).host !== site.base.host
      const isSafe =
        (headers['content-disposition'] ?? '').startsWith('attachment') &&
        /sandbox/.test(String(headers['content-security-policy']))
      return holds(
        isElsewhere || isSafe,
        isElsewhere ? 'it is shown at another host' : (headers['content-disposition'] ?? 'shown in place'),
        'Let the proxy pass Content-Disposition and Content-Security-Policy on.',
      )
    },
  },
  {
    id: 'deleted',
    sentence: 'A deleted file is gone with the next request.',
    page: 'concepts.md',
    check: async site => {
      const path = await site.workshop.file(site.admin, await site.context(), Buffer.from('text'))
      await site.admin.ask(path)
      await site.admin.ask(path.replace('/resource/', '/entry/'), { method: 'DELETE' })
      const answer = await site.admin.ask(path)
      return holds(answer.status === 404, tell(answer), 'Let the proxy not cache.')
    },
  },
]
