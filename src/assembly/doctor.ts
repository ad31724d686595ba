import { stat } from 'node:fs/promises'
import { secretsInFile } from '../config/describe.ts'
import type { LoadedSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import { BaseAddress } from '../http/base-address.ts'
import { AuthCookie } from '../http/protocol/sender.ts'
import { relyingPartyOfSettings } from './factors.ts'
import { type CheckResult, ok, warning, problem } from './check-result.ts'
import { checkContexts } from './doctor-contexts.ts'
import { describeFactors, checkFactors } from './doctor-factors.ts'
import { checkSso } from './doctor-sso.ts'
import { checkBackups } from './doctor-backups.ts'
import { checkStorage } from './doctor-storage.ts'
import { checkBreachedPasswords } from './breached-passwords.ts'
import { cookieOptions } from './http.ts'
import { checkVirusScan } from './virus-scan.ts'
import type { Milliseconds } from '../base/units.ts'
import { FetchFailed, fetchResponse } from '../sso/fetch.ts'

/** What `runChecks` checks. */
export interface Subject {
  readonly settings: Settings
  readonly origins: LoadedSettings['origins']
  /** Of the settings, each a sentence without a full stop. */
  readonly warnings: readonly string[]
  /** Path of the configuration file. */
  readonly file: string | undefined
  /** `SERVICE_AUTH_TOKEN_KEY`. */
  readonly tokenKey: string | undefined
  /** Of this program. */
  readonly version: string
}

/**
 * Checks addresses, disk, databases, keys, other nodes and identity providers. Nothing is created or changed. Opens connections
 * of its own and fetches metadata, so it can take seconds.
 */
export async function runChecks({
  settings,
  origins,
  warnings,
  file,
  tokenKey,
  version,
}: Subject): Promise<readonly CheckResult[]> {
  const base = new BaseAddress(settings['service.baseurl.folder'] ?? defaultBase(settings))
  return [
    ok(`settings: ${file ?? 'built in'}`),
    ...(await checkSettingsFile({ settings, origins, file })),
    ok(`base address: ${base.href}`),
    ok(`cookie: ${new AuthCookie(cookieOptions(settings, base.path)).set('…', undefined)}`),
    ok(`second factors: ${describeFactors(settings)}`),
    ok(`passkeys: ${describePasskeys(settings)}`),
    ...warnings.map(warning),
    ...(await checkContentOrigin(settings)),
    ...(await checkStorage({ settings, tokenKey, version })),
    ...(await checkBackups(settings)),
    ...(await checkContexts(settings)),
    ...(await checkVirusScan(settings)),
    ...checkBreachedPasswords(settings),
    ...(await checkFactors({ settings, tokenKey, version })),
    ...(await checkSso(settings, base)),
  ]
}

/** A group may read the file: that is how a service reads settings that it must not change. */
async function checkSettingsFile({
  file,
  ...loaded
}: Pick<Subject, 'settings' | 'origins' | 'file'>): Promise<CheckResult[]> {
  const [secret] = secretsInFile(loaded)
  if (file === undefined || secret === undefined) return []
  const mode = await stat(file).then(
    ({ mode }) => mode,
    () => 0,
  )
  if ((mode & 0o007) === 0) return []
  return [warning(`settings: all users of this machine can read ${secret} in ${file}; run chmod o-rwx on it`)]
}

/** Whether users are offered passkeys, and why not. */
function describePasskeys(settings: Settings): string {
  const use = settings['service.auth.passkeys']
  if (use === 'off') return 'off'
  const relyingParty = relyingPartyOfSettings(settings)
  if (!relyingParty) return 'not offered, because browsers need a base address with a host name and https, or localhost'
  return `bound to the host ${relyingParty.id}, ${use === 'sign-in' ? 'also instead of the password' : 'as second factor'}`
}

const defaultBase = (settings: Settings): string => `http://127.0.0.1:${settings['service.http.port']}/`

const TIMEOUT: Milliseconds = 5000
/** Any route of the base address, and none of the content origin. */
const PROBE = 'management/health'

/** Whether requests to the content origin reach the service as such. The service may be stopped, which is no problem. */
export async function checkContentOrigin(settings: Settings): Promise<CheckResult[]> {
  const href = settings['service.content.base-url']
  if (href === undefined) return []
  const title = `content origin: ${href}`
  try {
    const url = new BaseAddress(href).at(PROBE)
    const { status, text } = await fetchResponse({ url, timeout: TIMEOUT, maxBytes: 65_536, verifyTls: true })
    if (status === 404 && text.includes('urn:stowage:problem:not-found')) return [ok(title)]
    if (status !== 200) return [warning(`${title} does not lead to this service: ${PROBE} returns ${status}`)]
    return [
      problem(
        `${title} answers like the base address, so files would come back to it without end: ` +
          'its proxy must pass on the Host header',
      ),
    ]
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    return [warning(`${title} cannot be checked now: ${error.message}`)]
  }
}
