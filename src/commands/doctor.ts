import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { BaseAddress } from '../http/base-address.ts'
import { AuthCookie } from '../http/protocol/cookies.ts'
import type { SamlLogin } from '../sso/saml/sign-on.ts'
import { cookieOptions } from '../assembly/server.ts'
import { createSamlProviders } from '../assembly/sso.ts'
import { clockOffset } from '../sso/fetch.ts'
import { type Command, print } from './command.ts'
import { type Diagnosis, ok, problem, warning } from './diagnosis.ts'
import { examineStorage } from './doctor-storage.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

const DAY = 86_400_000
/** So many days ahead it is time to ask the provider for its next certificate. */
const SOON = 30
/** Clocks further apart than this make trouble sooner or later. */
const MAX_OFFSET = 30_000

export const doctor: Command = {
  name: 'doctor',
  usage: settingsUsage,
  summary: 'Checks addresses, disk, engines, keys, other nodes and identity providers without starting the service.',
  async run(args) {
    const { loaded, file, environment } = readSettings(args)
    const { settings, warnings } = loaded
    const base = new BaseAddress(settings['service.baseurl.folder'] ?? defaultBase(settings))
    const found = [
      ok(`settings: ${file ?? 'built in'}`),
      ok(`base address: ${base.href}`),
      ok(`cookie: ${new AuthCookie(cookieOptions(settings, base.path)).set('…', undefined)}`),
      ...warnings.map(warning),
      ...(await examineStorage(settings, environment.tokenKey)),
      ...examineCas(settings, base),
      ...(await examineSaml(settings, base)),
    ]
    for (const { level, text } of found) print(level === 'ok' ? text : `${level}: ${text}`)
    return found.some(({ level }) => level === 'problem') ? 1 : 0
  },
}

const defaultBase = (settings: Settings): string => `http://127.0.0.1:${settings['service.http.port']}/`

function examineCas(settings: Settings, base: BaseAddress): Diagnosis[] {
  if (!settings['service.auth.cas']) return [ok('CAS: off')]
  const { 'service.auth.cas.server.url': server, 'service.auth.cas.version': version } = settings
  return [ok(`CAS: ${version} at ${server ?? ''}, service URL ${base.at('auth/cas')}`)]
}

async function examineSaml(settings: Settings, base: BaseAddress): Promise<Diagnosis[]> {
  const machine = { system: realSystem, log: createLog('silent') }
  const saml = createSamlProviders(settings, machine)
  if (!saml) return [ok('SAML: off')]
  const found = await Promise.all(saml.providers.map(login => examineProvider(login, base)))
  await saml.close()
  return found.flat()
}

async function examineProvider({ provider }: SamlLogin, base: BaseAddress): Promise<Diagnosis[]> {
  const { name, acsUrl, metadata } = provider
  const title = `SAML ${name}`
  const found = [ok(`${title}: assertion consumer service ${acsUrl}`), ...examineAcs(title, acsUrl, base)]
  await metadata.current().catch(() => undefined)
  const { url, metadata: known, problem: reason } = metadata.status
  if (!known) return [...found, problem(`${title}: metadata cannot be had: ${reason ?? 'they are no longer valid'}`)]
  found.push(ok(`${title}: metadata of ${known.entityId} from ${url}, ${known.keys.length} signing key(s)`))
  for (const { subject, expires } of known.certificates) {
    const days = Math.floor((expires - realSystem.now()) / DAY)
    const text = `${title}: certificate "${subject}" ${days < 0 ? 'has expired' : `expires in ${days} days`}`
    found.push(days < 0 ? problem(text) : days < SOON ? warning(text) : ok(text))
  }
  const offset = await clockOffset(url, realSystem)
  if (offset !== undefined) {
    const text = `${title}: clocks differ by ${Math.round(offset / 1000)} s`
    found.push(Math.abs(offset) > MAX_OFFSET ? warning(text) : ok(text))
  }
  return found
}

/** Answers that go elsewhere never arrive; the provider compares the address to the letter, and so do we. */
function examineAcs(title: string, acsUrl: string, base: BaseAddress): Diagnosis[] {
  const address = acsUrl.split('?')[0]
  const own = [base.at('auth/saml'), `${base.origin}/store/auth/saml`]
  if (address !== undefined && own.includes(address)) return []
  return [problem(`${title}: answers go to ${acsUrl}, but this service takes them at ${own.join(' or ')}`)]
}
