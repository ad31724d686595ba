import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { keyNamed, edit } from './saml-idp.ts'
import { RELYING_PARTY, type Respond, SamlBrowser, type SamlService, type Sent } from './saml-service.ts'
import { buildResponse, encode, signResponse } from './saml-idp.ts'
import { type InProcess, startInProcess } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

interface Test {
  after(work: () => Promise<void>): void
}

/** The address of a federation's metadata. */
export interface FederationServer {
  readonly url: string
  /** Paths that were asked for. */
  readonly asked: string[]
  /** What it answers with; `undefined` is 404. */
  answer: (path: string) => string | undefined
  /** Replaces the whole answer. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
}

export async function startFederationServer(
  t: Test,
  answer: (path: string) => string | undefined,
): Promise<FederationServer> {
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    federation.asked.push(path)
    if (federation.misbehave) {
      federation.misbehave(request, response)
      return
    }
    const text = federation.answer(path)
    response.statusCode = text === undefined ? 404 : 200
    response.end(text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`
  const federation: FederationServer = { url, asked: [], answer, misbehave: undefined }
  return federation
}

export interface FederationService {
  readonly service: InProcess
  readonly server: FederationServer
  readonly browser: () => FederationBrowser
}

export interface FederationStart {
  readonly answer: (path: string) => string | undefined
  readonly settings?: Readonly<Record<string, string>>
  readonly folder?: string
  readonly server?: FederationServer
}

/** A service with one federation, called `fed`, whose user names are in `eduPersonPrincipalName`. */
export async function startWithFederation(t: Test, start: FederationStart): Promise<FederationService> {
  const server = start.server ?? (await startFederationServer(t, start.answer))
  const certificateFile = join(await temporaryFolder(), 'federation.crt')
  await writeFile(certificateFile, keyNamed('other').certificate)
  const idp = 'service.auth.saml.idp.fed'
  const all: Record<string, string> = {
    'service.auth.saml': 'new',
    'service.auth.saml.assertion-consumer-service.url': 'https://store.example/auth/saml',
    'service.auth.saml.default-idp': 'fed',
    'service.auth.saml.idps.1': 'fed',
    [`${idp}.federation`]: 'aggregate',
    [`${idp}.relying-party-id`]: RELYING_PARTY,
    [`${idp}.metadata.url`]: server.url,
    [`${idp}.metadata.certificate-file`]: certificateFile,
    [`${idp}.user-name-attribute`]: 'eduPersonPrincipalName',
    [`${idp}.user-auto-provisioning`]: 'on',
    ...start.settings,
  }
  const settings = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  const service = await startInProcess(t, { settings, ...(start.folder === undefined ? {} : { folder: start.folder }) })
  return { service, server, browser: () => new FederationBrowser(service) }
}

/** What the provider of an organisation states. */
export interface Stated extends Pick<Respond, 'key' | 'assertionId' | 'edit'> {
  readonly entityId: string
  /** By name of the attribute. */
  readonly attributes: Readonly<Record<string, string>>
}

export class FederationBrowser extends SamlBrowser {
  readonly #service: InProcess

  constructor(service: InProcess) {
    super({ service } as SamlService)
    this.#service = service
  }

  /** The response of a provider, with a transient NameID as is usual in federations. */
  stated({ requestId, acsUrl, relayState }: Sent, { entityId, attributes, key = keyNamed('idp'), ...rest }: Stated) {
    const { assertionId = `_${requestId}`, edit: change = (xml: string) => xml } = rest
    const about = { issuer: entityId, audience: RELYING_PARTY, acsUrl, requestId, now: this.#service.system.now() }
    const all = Object.entries(attributes).map(
      ([name, value]) =>
        `<saml:Attribute Name="${name}"><saml:AttributeValue>${value}</saml:AttributeValue></saml:Attribute>`,
    )
    const plain = edit(
      edit(
        buildResponse({ ...about, assertionId: '_assertion' }),
        'nameid-format:emailAddress">anna@a.example',
        'nameid-format:transient">_12345',
      ).replace('SAML:1.1:nameid-format:transient', 'SAML:2.0:nameid-format:transient'),
      /<saml:AttributeStatement>[^]*<\/saml:AttributeStatement>/,
      `<saml:AttributeStatement>${all.join('')}</saml:AttributeStatement>`,
    )
    const named = change(plain).replace('ID="_assertion"', `ID="${assertionId}"`)
    return { SAMLResponse: encode(signResponse(named, 'response', { key })), RelayState: relayState }
  }

  /** The complete login by the provider with this entity id. */
  async signInAt(stated: Stated) {
    const sent = await this.leave(`?idp=fed&entityID=${encodeURIComponent(stated.entityId)}`)
    return await this.bring(this.stated(sent, stated), '?idp=fed')
  }
}
