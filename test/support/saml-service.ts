import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inflateRawSync } from 'node:zlib'
import { findForm } from './headless-browser.ts'
import { type Answer, Visitor } from './http-client.ts'
import {
  buildMetadata,
  buildResponse,
  encode,
  type IdpKey,
  keyNamed,
  type MetadataShape,
  type Signed,
  signResponse,
} from './saml-idp.ts'
import { type InProcess, startInProcess } from './service.ts'

interface Test {
  after(work: () => Promise<void>): void
}

/** An identity provider that has an address for its metadata and a clock. */
export interface SamlIdp {
  readonly name: string
  readonly entityId: string
  readonly metadataUrl: string
  /** The number of requests for the metadata. */
  readonly asked: () => number
  /** Replaces the metadata. */
  publish(shape: MetadataShape): void
  /** Replaces the metadata by this text. */
  publishText(text: string): void
  /** Replaces the response to requests for metadata until it is set back to `undefined`. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
}

export async function startSamlIdp(t: Test, name = 'a', port = 0): Promise<SamlIdp> {
  const entityId = `https://${name}.example/metadata`
  let metadata = buildMetadata({ entityId })
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    if (idp.misbehave) idp.misbehave(request, response)
    else response.setHeader('content-type', 'application/samlmetadata+xml').end(metadata)
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const idp: SamlIdp = {
    name,
    entityId,
    metadataUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`,
    asked: () => asked,
    publish: shape => (metadata = buildMetadata({ entityId, ...shape })),
    publishText: text => (metadata = text),
    misbehave: undefined,
  }
  return idp
}

/** The request with which the service sent a browser to the provider. */
export interface Sent {
  readonly xml: string
  readonly relayState: string
  readonly requestId: string
  readonly acsUrl: string
  /** Where to, with its query when it went by redirect. */
  readonly url: URL
}

export interface Respond {
  readonly name?: string
  readonly signed?: Signed
  readonly key?: IdpKey
  readonly assertionId?: string
  readonly requestId?: string | undefined
  readonly acsUrl?: string
  readonly idp?: SamlIdp
  /** Changes the text before it is signed. */
  readonly edit?: (xml: string) => string
}

/** A browser between the service and an identity provider. */
export class SamlBrowser extends Visitor {
  readonly #saml: SamlService

  constructor(saml: SamlService) {
    super(saml.service.base)
    this.#saml = saml
  }

  /** Leaves for an identity provider. @param query with its question mark */
  async leave(query = ''): Promise<Sent> {
    const answer = await this.ask(`auth/saml${query}`, { headers: { accept: 'text/html,application/xhtml+xml' } })
    return readProviderForm(answer, this.base)
  }

  /** Posts a response, as the page of the provider makes a browser do. */
  async bring(
    form: Readonly<Record<string, string>>,
    query = '?idp=a',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const fromElsewhere = { origin: 'https://a.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    return await this.ask(`auth/saml${query}`, {
      form,
      headers: { accept: 'text/html,application/xhtml+xml', ...fromElsewhere, ...headers },
    })
  }

  /** The response of a provider to this request. */
  answerTo(sent: Sent, respond: Respond = {}): Record<string, string> {
    return { SAMLResponse: this.#saml.respond(sent, respond), RelayState: sent.relayState }
  }

  /** The complete login as this user of the provider. */
  async signInBy(name: string, query = '', respond: Respond = {}): Promise<Answer> {
    const sent = await this.leave(query)
    return await this.bring(this.answerTo(sent, { name, ...respond }), new URL(sent.acsUrl).search)
  }

  async whoAmI(): Promise<string> {
    return (await this.get('auth/user')).json<{ user: string }>().user
  }
}

/** Reads a redirect or the page with the form. */
export function readProviderForm(answer: Answer, base: string): Sent {
  const byForm = answer.status === 200
  assert.ok(byForm || answer.status === 303, answer.text)
  const form = byForm
    ? findForm({ url: `${base}auth/saml`, answer, trail: [] }, 'SAMLRequest', 'RelayState')
    : undefined
  const url = new URL(form?.action ?? answer.headers.location ?? '')
  const request = form?.fields['SAMLRequest'] ?? url.searchParams.get('SAMLRequest') ?? ''
  const bytes = Buffer.from(request, 'base64')
  const xml = (form ? bytes : inflateRawSync(bytes)).toString('utf8')
  const attribute = (name: string): string =>
    (new RegExp(` ${name}="([^"]*)"`).exec(xml)?.[1] ?? '').replaceAll('&#38;', '&')
  return {
    xml,
    relayState: form?.fields['RelayState'] ?? url.searchParams.get('RelayState') ?? '',
    requestId: attribute('ID'),
    acsUrl: attribute('AssertionConsumerServiceURL'),
    url,
  }
}

export interface SamlService {
  readonly service: InProcess
  /** The first of them is called `a`. */
  readonly idps: readonly SamlIdp[]
  readonly idp: SamlIdp
  readonly browser: () => SamlBrowser
  /** A signed response in base64. */
  readonly respond: (sent: Pick<Sent, 'requestId' | 'acsUrl'>, respond?: Respond) => string
}

export const RELYING_PARTY = 'urn:stowage'

/** The settings that a service needs for these identity providers. */
export const samlSettings = (idps: readonly SamlIdp[]): Record<string, string> => ({
  'service.auth.saml': 'new',
  ...Object.fromEntries(
    idps.flatMap(({ name, metadataUrl }, at) => [
      [`service.auth.saml.idps.${at + 1}`, name],
      [`service.auth.saml.idp.${name}.relying-party-id`, RELYING_PARTY],
      [`service.auth.saml.idp.${name}.metadata.url`, metadataUrl],
      [`service.auth.saml.idp.${name}.user-auto-provisioning`, 'on'],
    ]),
  ),
})

/** A service that signs in through identity providers with these names. An empty setting is not set. */
export async function startWithSaml(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
  names: readonly string[] = ['a'],
  folder?: string,
): Promise<SamlService> {
  const idps: SamlIdp[] = []
  for (const name of names) idps.push(await startSamlIdp(t, name))
  const all = {
    ...samlSettings(idps),
    'service.auth.saml.assertion-consumer-service.url': 'https://store.example/auth/saml',
    'service.auth.saml.default-idp': names[0] ?? '',
    ...settings,
  }
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  const service = await startInProcess(t, { settings: given, ...(folder === undefined ? {} : { folder }) })
  const [first] = idps
  assert.ok(first)
  const saml: SamlService = {
    service,
    idps,
    idp: first,
    browser: () => new SamlBrowser(saml),
    respond: (
      { requestId, acsUrl },
      { idp = first, signed, key = keyNamed('idp'), edit = (xml: string) => xml, ...about } = {},
    ) =>
      encode(
        signResponse(
          edit(
            buildResponse({
              issuer: idp.entityId,
              audience: RELYING_PARTY,
              acsUrl,
              requestId,
              now: service.system.now(),
              ...about,
            }),
          ),
          signed,
          { key },
        ),
      ),
  }
  return saml
}
