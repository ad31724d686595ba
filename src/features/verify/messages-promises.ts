import { realSystem } from '../../base/system.ts'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { tell } from './client.ts'
import { broken, holds, kept, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import { isOwn, requireOk, type Site } from './site.ts'

const PROXY = 'how-to/reverse-proxy.md'
const LONG_HEADER = 7000
const SAML_FORM = 1_600_000
const GRAPH_BYTES = 2_000_000

/** A context is found by its name; the name is written into an address in this way. */
const byName = (id: string, shown: string, part: string): Promised => ({
  id: `name-${id}`,
  sentence: `A name with ${shown} reaches the service as it was written.`,
  page: PROXY,
  check: async site => {
    const name = site.workshop.newName(part)
    await site.workshop.context([], name)
    const answer = await site.admin.ask(encodeURIComponent(name))
    return holds(
      answer.status === 200,
      tell(answer),
      'Pass the path on as it came: no path behind the name in proxy_pass, nocanon and AllowEncodedSlashes NoDecode in Apache.',
    )
  },
})

async function tagsOf(site: Site): Promise<readonly string[]> {
  const { path } = await site.file()
  const encodings = ['identity', 'gzip', 'br, gzip']
  const answers = await Promise.all(
    encodings.map(encoding => site.admin.ask(path, { headers: { 'accept-encoding': encoding } })),
  )
  return answers.map(({ headers }) => headers.etag ?? '')
}

export const messagePromises: readonly Promised[] = [
  byName('slash', 'a slash', 'a/b'),
  byName('plus', 'a plus sign', 'a+b'),
  byName('percent', 'a percent sign', '5%25'),
  byName('umlaut', 'an umlaut', 'Größe'),
  byName('blank', 'a blank', 'a b'),
  {
    id: 'double-slash',
    sentence: 'An address with two slashes is not changed on the way.',
    page: PROXY,
    check: async site => {
      const { path } = await site.file()
      const doubled = await site.admin.ask(path.replace('/resource/', '/resource//'))
      return holds(doubled.status === 404, tell(doubled), 'Pass the path on as it came.')
    },
  },
  {
    id: 'query',
    sentence: 'A query with umlauts, plus and percent signs reaches the service as it was written.',
    page: PROXY,
    check: async site => {
      const name = site.workshop.newName('ä+b % c')
      await site.workshop.context([], name)
      const answer = await site.admin.ask(`management/contexts?query=${encodeURIComponent(name)}`)
      return holds(
        answer.status === 200 && answer.text.includes(name),
        `a context was looked for by its name: ${tell(answer)}`,
        'Pass the query on unchanged.',
      )
    },
  },
  {
    id: 'long-headers',
    sentence: 'A request with long headers arrives.',
    page: 'reference/limits.md',
    check: async site => {
      const answer = await site.admin.ask('auth/user', { headers: { 'x-verify': 'x'.repeat(LONG_HEADER) } })
      return holds(
        answer.status === 200,
        `a header of ${LONG_HEADER} bytes: ${tell(answer)}`,
        'Allow headers of 8 KiB (nginx: large_client_header_buffers).',
      )
    },
  },
  {
    id: 'long-addresses',
    sentence: 'A long address arrives.',
    page: 'reference/limits.md',
    check: async site => {
      const answer = await site.admin.ask(`search?type=solr&query=${'a'.repeat(6000)}`)
      return holds(
        isOwn(answer) || answer.status === 200,
        `an address of 6,000 characters: ${tell(answer)}`,
        'Allow request lines of 8 KiB.',
      )
    },
  },
  {
    id: 'metadata-size',
    sentence: 'Metadata of two megabytes are accepted.',
    page: 'configuration.md',
    check: async site => {
      const context = await site.context()
      const entry = await site.workshop.entry(site.admin, context)
      const subject = site.admin.address(`${context}/resource/${entry}`)
      const graph = {
        [subject]: { 'http://purl.org/dc/terms/description': [{ type: 'literal', value: 'x'.repeat(GRAPH_BYTES) }] },
      }
      const answer = await site.admin.ask(`${context}/metadata/${entry}`, { method: 'PUT', json: graph })
      if (answer.status === 413 && isOwn(answer))
        return unchecked('the service itself allows less (service.http.json.max-size)')
      return holds(
        answer.status < 300,
        tell(answer),
        'Raise the limit of the proxy on bodies (client_max_body_size 16m).',
      )
    },
  },
  {
    id: 'sign-on-forms',
    sentence: 'A sign-on form of 1.6 MB arrives.',
    page: PROXY,
    check: async site => {
      const answer = await site.guest().ask('auth/saml', { form: { SAMLResponse: 'A'.repeat(SAML_FORM) } })
      return holds(isOwn(answer), tell(answer), 'Raise the limit of the proxy on bodies (client_max_body_size 16m).')
    },
  },
  {
    id: 'methods',
    sentence: 'PUT, PATCH, DELETE and HEAD reach the service.',
    page: PROXY,
    check: async site => {
      const refused: string[] = []
      for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
        const answer = await site.admin.ask('verify-nothing/entry/1', { method })
        if (answer.headers['content-security-policy'] === undefined && !isOwn(answer))
          refused.push(`${method} ${answer.status}`)
      }
      return holds(
        refused.length === 0,
        refused.length === 0 ? 'all arrive' : `answered by the proxy: ${refused.join(', ')}`,
        'Allow these methods at the proxy.',
      )
    },
  },
  {
    id: 'etag-strong',
    sentence: 'A file has the same strong ETag for every client.',
    page: 'concepts.md#conditional-requests',
    check: async site => {
      const tags = await tagsOf(site)
      const isStrong = tags.every(tag => /^"[^"]+"$/.test(tag))
      return holds(
        isStrong && new Set(tags).size === 1,
        [...new Set(tags)].join(', ') || 'no ETag',
        'Switch compression of the proxy off for the service, which compresses by itself.',
      )
    },
  },
  {
    id: 'not-modified',
    sentence: 'A file that has not changed is not sent again.',
    page: 'concepts.md#conditional-requests',
    check: async site => {
      const { path } = await site.file()
      const { headers } = await site.admin.ask(path)
      const again = await site.admin.ask(path, { headers: { 'if-none-match': headers.etag ?? '' } })
      return holds(again.status === 304, tell(again), 'Let the proxy pass If-None-Match on.')
    },
  },
  {
    id: 'lost-update',
    sentence: 'A change with `If-Match` of an older state is refused.',
    page: 'concepts.md#conditional-requests',
    check: async site => {
      const context = await site.context()
      const entry = await site.workshop.entry(site.admin, context)
      const path = `${context}/metadata/${entry}`
      const put = async (tag: string) =>
        await site.admin.ask(path, { method: 'PUT', json: {}, headers: { 'if-match': tag } })
      const { headers } = requireOk(await site.admin.ask(path), 'metadata')
      const wrong = await put('"of-nothing"')
      const right = await put(headers.etag ?? '')
      return holds(
        wrong.status === 412 && right.status < 300,
        `another tag: ${tell(wrong)}, the right one: ${tell(right)}`,
        'Let the proxy pass If-Match and ETag on unchanged.',
      )
    },
  },
  {
    id: 'ranges',
    sentence: 'A part of a file can be read.',
    page: 'concepts.md',
    check: async site => {
      const { path, bytes } = await site.file()
      const part = await site.admin.ask(path, { headers: { range: 'bytes=100-199' } })
      const isRight = part.status === 206 && part.bytes.equals(bytes.subarray(100, 200))
      return holds(
        isRight,
        `${part.status} with ${part.bytes.length} bytes`,
        'Let the proxy pass Range on, and let it not cache.',
      )
    },
  },
  {
    id: 'compression',
    sentence: 'Compressed responses are the same as plain ones.',
    page: PROXY,
    check: async site => {
      const ask = async (encoding: string) =>
        await site.guest().ask('openapi.json', { headers: { 'accept-encoding': encoding } })
      const [plain, gzip, brotli] = [await ask('identity'), await ask('gzip'), await ask('br')]
      const decoded = (answer: typeof gzip): Buffer => {
        const encoding = answer.headers['content-encoding']
        return encoding === 'gzip'
          ? gunzipSync(answer.bytes)
          : encoding === 'br'
            ? brotliDecompressSync(answer.bytes)
            : answer.bytes
      }
      if (plain.status !== 200) return unchecked(`openapi.json: ${tell(plain)}`)
      return holds(
        decoded(gzip).equals(plain.bytes) && decoded(brotli).equals(plain.bytes),
        'gzip and br',
        'Switch compression of the proxy off for the service.',
      )
    },
  },
  {
    id: 'personal-not-cached',
    sentence: 'Nothing personal is kept by a cache: a guest never gets what a user got.',
    page: PROXY,
    check: async site => {
      for (const path of ['auth/user', (await site.file()).path, `${await site.context()}/entry/1`]) {
        const own = await site.admin.ask(path)
        const guest = await site.guest().ask(path)
        if (own.status === 200 && guest.status === 200 && guest.bytes.equals(own.bytes)) {
          return broken(
            `a guest got the response of the administrator for ${path}`,
            'Switch caching of the proxy off for the service.',
          )
        }
      }
      return kept('guests get their own responses')
    },
  },
  {
    id: 'fresh-after-change',
    sentence: 'A change is seen by the next request.',
    page: 'reference/behaviour.md',
    check: async site => {
      const context = await site.context()
      const entry = await site.workshop.entry(site.admin, context)
      const path = `${context}/metadata/${entry}`
      const subject = site.admin.address(`${context}/resource/${entry}`)
      for (let count = 0; count < 3; count++) {
        const text = `${count} ${Buffer.from(realSystem.randomBytes(4)).toString('hex')}`
        await site.admin.ask(path, {
          method: 'PUT',
          json: { [subject]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: text }] } },
        })
        const read = await site.admin.ask(path)
        if (!read.text.includes(text))
          return broken('an older state came back', 'Switch caching of the proxy off for the service.')
      }
      return kept('three changes, each seen at once')
    },
  },
  {
    id: 'cache-headers',
    sentence: 'Responses about a session have `no-store`, others of signed-in callers `private`.',
    page: 'reference/behaviour.md',
    check: async site => {
      const user = await site.admin.ask('auth/user')
      const file = await site.admin.ask((await site.file()).path)
      const [one = '', other = ''] = [user.headers['cache-control'], file.headers['cache-control']]
      return holds(
        one.includes('no-store') && /private|no-store/.test(other),
        `${one || 'nothing'}; ${other || 'nothing'}`,
        'Let the proxy pass Cache-Control on unchanged.',
      )
    },
  },
  {
    id: 'file-names',
    sentence: 'A file is offered under its name, in any script.',
    page: 'concepts.md',
    check: async site => {
      const name = 'Größe – 漢字.txt'
      const headers = { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` }
      const path = await site.workshop.file(site.admin, await site.context(), Buffer.from('text'), headers)
      const answer = await site.admin.ask(path)
      const disposition = answer.headers['content-disposition'] ?? ''
      return holds(
        disposition.includes(encodeURIComponent('漢字')),
        disposition || 'no Content-Disposition',
        'Let the proxy pass Content-Disposition on unchanged.',
      )
    },
  },
  {
    id: 'graphs',
    sentence: 'Metadata come back as they were sent, in every script.',
    page: 'concepts.md#graphs',
    check: async site => {
      const context = await site.context()
      const entry = await site.workshop.entry(site.admin, context)
      const path = `${context}/metadata/${entry}`
      const body = '<> <http://purl.org/dc/terms/title> "Größe – 漢字 🌊"@de .'
      const put = await site.admin.ask(path, { method: 'PUT', body, headers: { 'content-type': 'text/turtle' } })
      const read = await site.admin.ask(path, { headers: { accept: 'text/turtle' } })
      return holds(
        put.status < 300 && read.text.includes('Größe – 漢字 🌊'),
        tell(read),
        'Let the proxy change no bodies.',
      )
    },
  },
  {
    id: 'api-description',
    sentence: '`/openapi.json` describes the interface under the base address.',
    page: 'interface.md',
    check: async site => {
      const answer = await site.guest().ask('openapi.json')
      return holds(
        answer.status === 200 && answer.text.includes(site.base.href.replace(/\/$/, '')),
        tell(answer),
        'Set service.baseurl.folder to the address that clients use.',
      )
    },
  },
]
