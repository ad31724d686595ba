import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { exportOf } from '../support/archives.ts'
import type { Visitor } from '../support/http-client.ts'
import { encode, signResponse, buildResponse } from '../support/saml-idp.ts'
import { startWithSaml } from '../support/saml-service.ts'
import { newContext, newEntry } from '../support/service.ts'
import { multipartHeaders, putFile } from '../support/uploads.ts'
import type { Target } from './fuzz-parsers.ts'
import * as seeds from './fuzz-seeds.ts'

const HEADER = 12_000
const BODY = 100_000
/** As an administrator would be served by no proxy in front; a body that breaks off is given up soon. */
const settings = {
  'service.auth.http-basic': 'on',
  'service.http.trusted-proxies.1': '127.0.0.0/8',
  'service.http.body.idle-timeout': '2s',
  'service.auth.temp.lockout.max.attempts': '-1',
  'service.cors': 'on',
  'service.cors.origins.1': 'https://app.example',
  'service.jsonp': 'on',
  'service.data.quota': 'on',
}

interface Test {
  after(work: () => Promise<void>): void
}

export interface FuzzedService {
  readonly targets: readonly Target[]
  /** The archive of a context with entries, as a seed. */
  readonly archive: Buffer
}

/** A service in this process and all of its ways in: everything that it reads of a request, changed one at a time. */
export async function openService(t: Test): Promise<FuzzedService> {
  const { service } = await startWithSaml(t, settings)
  const admin = await service.admin()
  const context = await newContext(admin)
  const plain = await newEntry(admin, context, '?id=plain', JSON.parse(seeds.jsons[0] ?? ''))
  const file = await newEntry(admin, context, '?id=file')
  assert.equal((await putFile(admin, `${context}/resource/${file}`, 'hello')).status, 201)
  const archive = await exportOf(admin, context)
  const archives = await newContext(admin)
  const at = new Sender(service.base, admin)
  const graph = `${context}/metadata/${plain}`
  const bytes = `${context}/resource/${file}`
  const json = 'application/json'
  return {
    archive,
    targets: [
      at.header('Cookie', seeds.cookies, 'GET', 'auth/user', { cookie: '' }),
      at.header('Authorization', seeds.authorizations, 'GET', 'auth/user'),
      at.header('Accept-Language', seeds.languages, 'GET', 'auth/user'),
      at.header('User-Agent', ['Mozilla/5.0 (X11; Linux x86_64) a/1'], 'GET', 'auth/tokens'),
      at.header('Accept', seeds.accepts, 'GET', graph),
      at.header('Accept', seeds.accepts, 'GET', 'nowhere/at/all'),
      at.header('Origin', seeds.origins, 'PUT', graph),
      at.header('Host', ['127.0.0.1:80', 'store.example', '[::1]:1'], 'GET', 'auth/user', { host: '' }),
      at.header('Forwarded', seeds.forwarded, 'GET', 'auth/user'),
      at.header('X-Forwarded-For', seeds.forwarded, 'GET', 'auth/user'),
      ...['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'].map(name =>
        at.header(name, name === 'Range' ? seeds.ranges : seeds.conditions, 'GET', bytes),
      ),
      at.header('Content-Disposition', seeds.dispositions, 'PUT', bytes),
      at.header('Content-Type', seeds.types, 'PUT', bytes),
      at.header('Content-Type', seeds.types, 'PUT', graph),
      at.query('search', seeds.queries),
      at.query('auth/user', seeds.queries),
      at.query(graph, seeds.queries),
      at.query('auth/saml', ['idp=a&successurl=https%3A%2F%2Fapp.example%2F', 'username=anna%40a.example']),
      at.query('proxy', ['url=http%3A%2F%2F127.0.0.1%3A1%2F', 'url=https://[::1]/']),
      at.search(seeds.searches),
      at.path([`/${context}/entry/${plain}`, '/_contexts/resource/1?a', '/store/auth/user', '/management/status']),
      at.body('POST', 'auth/cookie', 'application/x-www-form-urlencoded', seeds.forms),
      at.body('POST', 'auth/saml?idp=a', 'application/x-www-form-urlencoded', [
        `SAMLResponse=${encodeURIComponent(encode(signResponse(buildResponse())))}&RelayState=abc`,
      ]),
      at.body('PUT', bytes, multipartHeaders['content-type'], seeds.multiparts),
      at.body('POST', context, json, seeds.jsons),
      at.body('POST', '_principals?graphtype=user', json, seeds.jsons),
      at.body('PUT', `${context}/entry/${plain}`, json, seeds.jsons),
      at.body('PUT', `_principals/resource/_guest`, json, seeds.jsons),
      at.body('PUT', `${context}/quota`, json, seeds.jsons),
      at.body('DELETE', 'auth/tokens', json, seeds.jsons),
      ...Object.entries({
        json: 'application/rdf+json',
        ttl: 'text/turtle',
        jsonld: 'application/ld+json',
        rdf: 'application/rdf+xml',
        nt: 'application/n-triples',
        n3: 'text/n3',
        trig: 'application/trig',
        trix: 'application/trix',
      }).map(([name, type]) => at.body('PUT', graph, type, seeds.graphs[name] ?? [])),
      at.body('POST', `${archives}/import`, 'application/zip', [archive]),
    ],
  }
}

/** Sends what no client library would. */
class Sender {
  readonly #base: URL
  readonly #admin: Visitor

  constructor(base: string, admin: Visitor) {
    this.#base = new URL(base)
    this.#admin = admin
  }

  header(name: string, corpus: readonly string[], method: string, path: string, without: Headers = {}): Target {
    const key = name.toLowerCase()
    // Another line would be another header; framing has tests of its own.
    const run = (bytes: Buffer) =>
      this.#send(method, `/${path}`, { ...without, [key]: bytes.toString('latin1').replaceAll(/[\r\n]/g, '\t') })
    return { name: `${name} of ${method} ${path}`, corpus: buffers(corpus), most: HEADER, run }
  }

  query(path: string, corpus: readonly string[]): Target {
    const run = (bytes: Buffer) => this.#send('GET', `/${path}?${inLine(bytes)}`)
    return { name: `query of ${path}`, corpus: buffers(corpus), most: HEADER, run }
  }

  search(corpus: readonly string[]): Target {
    const run = (bytes: Buffer) => {
      const query = encodeURIComponent(bytes.toString('utf8').slice(0, 2000))
      return this.#send('GET', `/search?type=solr&query=${query}`)
    }
    return { name: 'search', corpus: buffers(corpus), most: 3000, run }
  }

  path(corpus: readonly string[]): Target {
    const run = (bytes: Buffer) => this.#send('GET', `/${inLine(bytes)}`)
    return { name: 'path', corpus: buffers(corpus), most: HEADER, run }
  }

  body(method: string, path: string, type: string, corpus: ReadonlyArray<string | Buffer>): Target {
    const run = (bytes: Buffer) => this.#send(method, `/${path}`, { 'content-type': type }, bytes)
    const pieces = corpus.map(piece => Buffer.from(piece as string))
    return { name: `${type} of ${method} ${path}`, corpus: pieces, most: BODY, run }
  }

  async #send(method: string, target: string, headers: Headers = {}, body: Buffer = Buffer.alloc(0)): Promise<void> {
    const all: Headers = {
      host: this.#base.host,
      cookie: `auth_token=${this.#admin.cookie}`,
      connection: 'close',
      ...(body.length > 0 || method !== 'GET' ? { 'content-length': String(body.length) } : {}),
      ...headers,
    }
    const lines = Object.entries(all)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}: ${value}`)
    const head = Buffer.from([`${method} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'), 'latin1')
    const answer = await exchange(this.#base, Buffer.concat([head, body]))
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
    // 501 is what the service says of features that it has not, 503 of too much at once: answers both.
    assert.ok(status < 500 || status === 501 || status === 503, `answered by ${JSON.stringify(answer.slice(0, 400))}`)
    assert.doesNotMatch(answer, /\n {4}at |node_modules/, 'tells of the inside')
  }
}

type Headers = Readonly<Record<string, string>>

const buffers = (texts: readonly string[]): Buffer[] => texts.map(text => Buffer.from(text))

/** Blanks and ends of lines would end the request line. */
const inLine = (bytes: Buffer): string => bytes.toString('latin1').replaceAll(/[\s]/g, '+')

/** All that comes back until the service hangs up, as it has been asked to. */
function exchange({ hostname, port }: URL, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(request))
    socket.setTimeout(30_000, () => socket.destroy(new Error('no answer within 30 s')))
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
    // A refusal may come, and the connection end, before all has been sent.
    socket.on('error', error => (answer === '' ? reject(error) : resolve(answer)))
    socket.on('close', () => resolve(answer))
  })
}
