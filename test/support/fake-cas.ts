import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { escapeXml } from '../../src/features/sso/xml.ts'

interface Test {
  after(work: () => Promise<void>): void
}

/** A validation request. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface FakeCas {
  /** Ends in a slash. */
  readonly url: string
  readonly asked: readonly Asked[]
  /** The user of each ticket; a ticket is removed at its first validation. */
  readonly tickets: Map<string, string>
  /** What it says about its users, by name. */
  readonly attributes: Map<string, Readonly<Record<string, readonly string[]>>>
  /** Replaces the response until it is set back to `undefined`. */
  misbehave: ((response: ServerResponse, asked: Asked) => void) | undefined
  /** A new ticket for this user. */
  issue(name: string): string
}

export interface FakeCasOptions {
  /** The clock of SAML 1.1 assertions. */
  readonly now?: () => number
  /** Key and certificate make it speak https. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** A CAS server with all four protocols, which can also be made to misbehave. */
export async function startFakeCas(t: Test, { now = Date.now, tls }: FakeCasOptions = {}): Promise<FakeCas> {
  const asked: Asked[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '/', headers } = request
    const { pathname: path, searchParams: query } = new URL(url, 'http://cas')
    const one = { method, path, query, headers, body: await readBody(request) }
    asked.push(one)
    if (cas.misbehave) cas.misbehave(response, one)
    else answer(response, one, cas, now())
  }
  const listener: RequestListener = (request, response) => void serve(request, response)
  const server: Server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  let issued = 0
  const cas: FakeCas = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/cas/`,
    asked,
    tickets: new Map(),
    attributes: new Map(),
    misbehave: undefined,
    issue(name) {
      const ticket = `ST-${++issued}-aB_c.d-cas01`
      cas.tickets.set(ticket, name)
      return ticket
    },
  }
  return cas
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

function answer(
  response: ServerResponse,
  { method, path, query, body }: Asked,
  { tickets, attributes }: FakeCas,
  now: number,
) {
  const artifact = /<samlp:AssertionArtifact>([^<]*)</.exec(body)?.[1]
  const ticket = query.get('ticket') ?? artifact ?? ''
  const name = tickets.get(ticket)
  tickets.delete(ticket)
  const stated = Object.entries(attributes.get(name ?? '') ?? {}).flatMap(([key, values]) =>
    values.map(value => [key, escapeXml(value)] as const),
  )
  response.setHeader('content-type', 'text/xml')
  if (path === '/cas/validate') response.end(name === undefined ? 'no\n' : `yes\n${name}\n`)
  else if (path === '/cas/serviceValidate' || path === '/cas/p3/serviceValidate')
    response.end(serviceResponse(name, stated))
  else if (path === '/cas/samlValidate' && method === 'POST')
    response.end(samlReply(name, query.get('TARGET') ?? '', now, stated))
  else response.writeHead(404).end()
}

type Stated = ReadonlyArray<readonly [name: string, value: string]>

export const serviceResponse = (name: string | undefined, stated: Stated = []): string =>
  `<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas">\n${
    name === undefined
      ? '<cas:authenticationFailure code="INVALID_TICKET">ticket unknown</cas:authenticationFailure>'
      : `<cas:authenticationSuccess>\n<cas:user>${escapeXml(name)}</cas:user>\n<cas:attributes>${stated
          .map(([key, value]) => `<cas:${key}>${value}</cas:${key}>`)
          .join('')}</cas:attributes></cas:authenticationSuccess>`
  }\n</cas:serviceResponse>\n`

function samlReply(name: string | undefined, target: string, now: number, stated: Stated): string {
  const time = (fromNow: number): string => new Date(now + fromNow).toISOString().replace('Z', '+00:00')
  const subject = `<Subject><NameIdentifier>${escapeXml(name ?? '')}</NameIdentifier></Subject>`
  const attributes = `<AttributeStatement>${subject}${stated
    .map(([key, value]) => `<Attribute AttributeName="${key}"><AttributeValue>${value}</AttributeValue></Attribute>`)
    .join('')}</AttributeStatement>`
  const assertion = `<Assertion xmlns="urn:oasis:names:tc:SAML:1.0:assertion" AssertionID="_1" Issuer="localhost" MajorVersion="1" MinorVersion="1">
    <Conditions NotBefore="${time(0)}" NotOnOrAfter="${time(60_000)}"><AudienceRestrictionCondition><Audience>
      ${escapeXml(target)}
    </Audience></AudienceRestrictionCondition></Conditions>
    <AuthenticationStatement AuthenticationMethod="urn:oasis:names:tc:SAML:1.0:am:password">${subject}</AuthenticationStatement>${stated.length === 0 ? '' : attributes}</Assertion>`
  const status = name === undefined ? 'samlp:RequestDenied">ticket unknown' : 'samlp:Success">'
  return `<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Body>
    <Response xmlns="urn:oasis:names:tc:SAML:1.0:protocol" MajorVersion="1" MinorVersion="1" Recipient="x" ResponseID="_2">
    <Status><StatusCode Value="${status}</StatusCode></Status>${name === undefined ? '' : assertion}</Response>
    </SOAP-ENV:Body></SOAP-ENV:Envelope>`
}
