import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ask } from '../http-client.ts'
import { clockVariables } from '../machine-clock.ts'
import { type Peer, unpackedPeers } from './peer.ts'
import { freePort, type Place, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

const php = '/usr/bin/php8.2'
const program = join(unpackedPeers, 'simplesamlphp/usr/share/simplesamlphp')
const needed = [
  php,
  '/etc/php/8.2/cli/conf.d/15-xml.ini',
  '/etc/php/8.2/cli/conf.d/20-mbstring.ini',
  '/usr/bin/openssl',
  program,
]

export const simpleSamlPhp: Peer = { name: 'simplesamlphp', available: () => needed.every(path => existsSync(path)) }

export interface SamlUser {
  readonly name: string
  readonly password: string
  /** Becomes the NameID, marked as an e-mail address; without it the NameID is a random one, marked transient. */
  readonly mail?: string
}

/** What the IdP knows about a service provider. Certificates are PEM. */
export interface ServiceProvider {
  readonly entityId: string
  /** Addresses that take responses by HTTP-POST; compared to the letter, query included. The first is the default. */
  readonly acs: readonly string[]
  /** What the IdP signs for it; the assertion if absent, as is the IdP's own default. */
  readonly signed?: 'assertion' | 'response' | 'both' | 'nothing'
  /** Assertions are encrypted to this certificate. */
  readonly encryptTo?: string
  /** Where it takes messages of single logout by redirect, signed by the provider. Its own must be signed with `requestsSignedBy`. */
  readonly logout?: string
  /** Requests that are not signed with the key of this certificate are refused. */
  readonly requestsSignedBy?: string
}

export interface SimpleSamlOptions extends Place {
  readonly users: readonly SamlUser[]
  readonly serviceProviders?: readonly ServiceProvider[]
}

export interface SimpleSaml {
  readonly pid: number
  readonly metadataUrl: string
  /** The same as the address of the metadata. */
  readonly entityId: string
  /** Replaces the service providers, from the next request on: a service knows its own address only once it runs. */
  trust(serviceProviders: readonly ServiceProvider[]): Promise<void>
  /** Signs with a new key from the next request on; the metadata then names no other. */
  renewKey(): Promise<void>
  stop(): Promise<void>
}

/** A SAML 2.0 identity provider; takes requests by redirect and by POST. Several may run, each on its port. */
export async function startSimpleSaml(t: Test, options: SimpleSamlOptions): Promise<SimpleSaml> {
  const { host = '127.0.0.1', users, serviceProviders = [] } = options
  const port = await freePort(options.port)
  const origin = `http://${host}:${port}`
  const entityId = `${origin}/saml2/idp/metadata.php`
  const trust = (folder: string, providers: readonly ServiceProvider[]): Promise<void> =>
    configure(folder, 'saml20-sp-remote', Object.fromEntries(providers.map(sp => [sp.entityId, spMetadata(sp)])))
  const renewKey = async (folder: string): Promise<void> =>
    configure(folder, 'saml20-idp-hosted', { [entityId]: idpMetadata(await makeKey(folder)) })

  const idp = await startInNewFolder(t, async folder => {
    await Promise.all(['data', 'sessions', 'temp'].map(name => mkdir(join(folder, name))))
    await Promise.all([
      configure(folder, 'config', settings(folder, origin, port)),
      configure(folder, 'authsources', { users: { 0: 'exampleauth:UserPass', ...accounts(users) } }),
      renewKey(folder),
      trust(folder, serviceProviders),
    ])
    return startPeerProcess({
      command: php,
      args: ['-S', `127.0.0.1:${port}`, '-t', join(program, 'www')],
      env: { ...clockVariables, SIMPLESAMLPHP_CONFIG_DIR: folder, PHP_CLI_SERVER_WORKERS: '2' },
      folder,
      ready: async () => (await ask(entityId)).text.includes(`entityID="${entityId}"`),
    })
  })
  return {
    pid: idp.pid,
    metadataUrl: entityId,
    entityId,
    trust: providers => trust(idp.folder, providers),
    renewKey: () => renewKey(idp.folder),
    stop: () => idp.stop(),
  }
}

const settings = (folder: string, origin: string, port: number): Record<string, unknown> => ({
  baseurlpath: `${origin}/`,
  certdir: `${folder}/`,
  datadir: `${folder}/data/`,
  loggingdir: `${folder}/`,
  metadatadir: `${folder}/`,
  tempdir: `${folder}/temp/`,
  secretsalt: 'known to all tests',
  'auth.adminpassword': 'of an administrator who never comes',
  'admin.checkforupdates': false,
  'logging.handler': 'errorlog',
  'enable.saml20-idp': true,
  'module.enable': { core: true, exampleauth: true, saml: true },
  'store.type': 'phpsession',
  'session.phpsession.savepath': `${folder}/sessions/`,
  // The packaged default loses the session on plain http.
  'session.cookie.secure': false,
  'session.cookie.samesite': null,
  'language.cookie.secure': false,
  'language.cookie.samesite': null,
  // Cookies know no port: two of these on one host would take each other's.
  'session.cookie.name': `IdpId${port}`,
  'session.phpsession.cookiename': `Idp${port}`,
  'session.authtoken.cookiename': `IdpToken${port}`,
  'authproc.idp': [],
})

const accounts = (users: readonly SamlUser[]): Record<string, unknown> =>
  Object.fromEntries(
    users.map(({ name, password, mail }) => [
      `${name}:${password}`,
      { uid: [name], ...(mail === undefined ? {} : { mail: [mail] }) },
    ]),
  )

const idpMetadata = (key: string): Record<string, unknown> => ({
  host: '__DEFAULT__',
  auth: 'users',
  privatekey: `${key}.pem`,
  certificate: `${key}.crt`,
  'signature.algorithm': 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  SingleSignOnServiceBinding: [binding('Redirect'), binding('POST')],
})

const spMetadata = ({
  acs,
  signed = 'assertion',
  encryptTo,
  requestsSignedBy,
  logout,
}: ServiceProvider): Record<string, unknown> => ({
  ...(logout === undefined
    ? {}
    : {
        SingleLogoutService: [{ Binding: binding('Redirect'), Location: logout }],
        'sign.logout': true,
        'validate.logout': true,
      }),
  AssertionConsumerService: acs.map((Location, index) => ({ Binding: binding('POST'), Location, index })),
  NameIDFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  'simplesaml.nameidattribute': 'mail',
  'saml20.sign.assertion': signed === 'assertion' || signed === 'both',
  'saml20.sign.response': signed === 'response' || signed === 'both',
  'assertion.encryption': encryptTo !== undefined,
  'validate.authnrequest': requestsSignedBy !== undefined,
  keys: [
    ...(encryptTo === undefined ? [] : [spKey(encryptTo, { encryption: true, signing: false })]),
    ...(requestsSignedBy === undefined ? [] : [spKey(requestsSignedBy, { encryption: false, signing: true })]),
  ],
})

const spKey = (pem: string, use: Record<'encryption' | 'signing', boolean>): Record<string, unknown> => ({
  type: 'X509Certificate',
  X509Certificate: pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''),
  ...use,
})

const binding = (name: string): string => `urn:oasis:names:tc:SAML:2.0:bindings:HTTP-${name}`

/** Writes one settings file. Its values are JSON, so that none of them is ever read as PHP. */
async function configure(folder: string, name: string, value: Record<string, unknown>): Promise<void> {
  const variable = name.startsWith('saml20') ? '$metadata' : '$config'
  const code = `<?php ${variable} = json_decode(file_get_contents(__DIR__ . '/${name}.json'), true);`
  await writeFile(join(folder, `${name}.php`), code)
  // Renamed, not written over: a request meanwhile sees the old values or the new ones.
  const temporary = join(folder, randomUUID())
  await writeFile(temporary, JSON.stringify(value))
  await rename(temporary, join(folder, `${name}.json`))
}

/** Makes a key and a certificate and returns their common name. */
async function makeKey(folder: string): Promise<string> {
  const name = randomUUID()
  const files = ['-keyout', join(folder, `${name}.pem`), '-out', join(folder, `${name}.crt`)]
  const subject = ['-subj', '/CN=idp.test', '-days', '30']
  await promisify(execFile)('/usr/bin/openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files])
  return name
}
