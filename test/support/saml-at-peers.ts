import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HeadlessBrowser, type Page } from './headless-browser.ts'
import { loginAtSimpleSaml } from './headless-login.ts'
import { freePort } from './peers/peer-process.ts'
import type { SamlUser, ServiceProvider, SimpleSaml } from './peers/simplesamlphp.ts'
import { type InProcess, type Process, type Service, setClock, startInProcess, startProcess } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

interface Test {
  after(work: () => Promise<void>): void
}

type Values = Readonly<Record<string, string>>

/** An identity provider as a service uses it. */
export interface Use {
  readonly idp: SimpleSaml
  /** Settings of `service.auth.saml.idp.<idp>.`, without that; unknown users are made unless it says otherwise. */
  readonly settings?: Values
  /** What the provider does otherwise for this service. */
  readonly trust?: Partial<ServiceProvider>
}

/** Settings of a service at this address that signs in by these providers, who from now on know no other service. */
export async function samlSettings(base: string, uses: Readonly<Record<string, Use>>, more: Values): Promise<Values> {
  const { port } = new URL(base)
  const acs = `${base}auth/saml`
  const settings: Record<string, string> = {
    'service.http.port': port,
    'service.auth.saml': 'new',
    'service.auth.saml.assertion-consumer-service.url': acs,
    'service.auth.cookie.secure': 'off',
  }
  for (const [place, [name, use]] of Object.entries(uses).entries()) {
    settings[`service.auth.saml.idps.${place + 1}`] = name
    const own = {
      'relying-party-id': `urn:stowage:${port}:${name}`,
      'metadata.url': use.idp.metadataUrl,
      'user-auto-provisioning': 'on',
      ...use.settings,
    }
    for (const [key, value] of Object.entries(own)) settings[`service.auth.saml.idp.${name}.${key}`] = value
    const logout = use.settings?.['single-logout'] === undefined ? {} : { logout: `${acs}/logout/${name}` }
    await use.idp.trust([{ entityId: own['relying-party-id'], acs: [`${acs}?idp=${name}`], ...logout, ...use.trust }])
  }
  return { ...settings, ...more }
}

/** A service that signs in by real identity providers, with its clock at the real time. @param base its own port if absent */
export async function startWithSaml(
  t: Test,
  uses: Readonly<Record<string, Use>>,
  more: Values = {},
  base?: string,
): Promise<InProcess> {
  const settings = await samlSettings(base ?? (await freeBase()), uses, more)
  const service = await startInProcess(t, { settings })
  setClock(service)
  return service
}

const freeBase = async (): Promise<string> => `http://127.0.0.1:${await freePort()}/`

/** The same in a process of its own. */
export async function startProcessWithSaml(
  t: Test,
  uses: Readonly<Record<string, Use>>,
  more: Values = {},
): Promise<Process> {
  return startProcess(t, { settings: await samlSettings(await freeBase(), uses, more) })
}

export interface Person extends Omit<SamlUser, 'mail'> {
  readonly mail?: string
  readonly browser?: HeadlessBrowser
}

/** Signs in by SAML in a browser. @param query with its question mark */
export async function signIn(
  service: Service,
  { browser = new HeadlessBrowser(), ...person }: Person,
  query = '',
): Promise<{ readonly browser: HeadlessBrowser; readonly page: Page; readonly user: string }> {
  if (isInProcess(service)) setClock(service)
  const page = await loginAtSimpleSaml(`${service.base}auth/saml${query}`, { ...person, browser })
  return { browser, page, user: await whoIs(service, browser) }
}

const isInProcess = (service: Service): service is InProcess => 'system' in service

/** Who the service takes the browser's owner for. */
export async function whoIs({ base }: Service, browser: HeadlessBrowser): Promise<string> {
  return (await browser.visit(`${base}auth/user`)).answer.json<{ user: string }>().user
}

export interface Failure {
  readonly provider: string
  readonly check: string
  readonly correlation: string
  readonly expected?: string
  readonly received?: string
}

export interface SsoReport {
  readonly saml: readonly { readonly name: string; readonly entityId?: string; readonly certificates?: unknown[] }[]
  readonly failures: readonly Failure[]
}

/** The state of single sign-on as administrators see it. */
export async function ssoReport(service: Service): Promise<SsoReport> {
  return (await (await service.admin()).get('management/sso')).json<SsoReport>()
}

export interface KeyFiles {
  readonly keyFile: string
  readonly certificateFile: string
  readonly certificate: string
}

/** A new RSA key with a certificate, as files for the settings. */
export async function keyFiles(): Promise<KeyFiles> {
  const folder = await temporaryFolder()
  const [keyFile, certificateFile] = [join(folder, 'sp.pem'), join(folder, 'sp.crt')]
  const parameters = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=stowage.test']
  execFileSync('openssl', [...parameters, '-keyout', keyFile, '-out', certificateFile], { stdio: 'ignore' })
  return { keyFile, certificateFile, certificate: readFileSync(certificateFile, 'utf8') }
}
