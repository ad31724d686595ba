import type { Key } from './keys.ts'
import type { Settings } from './settings.ts'

/** A contradiction between settings that are each valid. */
export interface Check {
  /** The settings concerned; they are shown with the message. */
  readonly keys: readonly [Key, ...Key[]]
  /** Logged as a warning; the service still starts. */
  readonly warning?: true
  /** @param isWritten whether the key is set, be it to its default */
  readonly wrong: (settings: Settings, isWritten: (key: Key) => boolean) => boolean
  /** A sentence without a full stop. */
  readonly message: string
}

/** Two settings of which neither makes sense without the other. */
export const both = (one: Key, other: Key, message: string): Check => ({
  keys: [one, other],
  wrong: settings => (settings[one] === undefined) !== (settings[other] === undefined),
  message,
})

/** A setting that another needs where that is `on`, or has this value. */
export const needs = (key: Key, value: true | string, needed: Key): Check => ({
  keys: [key, needed],
  wrong: settings => settings[key] === value && settings[needed] === undefined,
  message: `${key}=${value === true ? 'on' : value} needs ${needed}`,
})

export const KEY_PAIR = 'a key file needs its certificate file, and the other way round'

/** Whether a browser must run on the same machine as the service, so that plain http is safe. `undefined`: the default. */
function isLoopback(url: string | undefined): boolean {
  if (url === undefined) return true
  const { hostname } = new URL(url)
  return isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))
}

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/** Whether data sent to the address can be read in transit. */
export function isPlainHttp(url: string | undefined): boolean {
  return url !== undefined && /^http:/i.test(url) && !isLoopback(url)
}

export function hasTwice(values: readonly string[]): boolean {
  return new Set(values).size < values.length
}

type Required =
  | `service.auth.saml.idp.<idp>.${'relying-party-id' | 'metadata.url'}`
  | `service.auth.oidc.idp.<idp>.${'issuer' | 'client-id'}`

/** Where the providers of a protocol are set. */
interface Providers {
  readonly list: 'service.auth.saml.idps.<n>' | 'service.auth.oidc.idps.<n>'
  readonly defaultIdp: 'service.auth.saml.default-idp' | 'service.auth.oidc.default-idp'
  /** What each provider needs. */
  readonly required: readonly [Required, Required]
  readonly key: 'service.auth.saml' | 'service.auth.oidc'
  /** The value of `key` with which the providers are used. */
  readonly value: 'new' | true
}

/** What holds for the providers of each protocol. */
export function providerChecks({ list, defaultIdp, required, key, value }: Providers): readonly Check[] {
  const isUsed = (settings: Settings): boolean => settings[key] === value
  const on = `${key}=${value === true ? 'on' : value}`
  return [
    {
      keys: [key, list],
      wrong: settings => isUsed(settings) && settings[list].length === 0,
      message: `${on} needs at least one identity provider in ${list.replace('<n>', '1')}`,
    },
    {
      keys: [key, list],
      warning: true,
      wrong: settings => !isUsed(settings) && settings[list].length > 0,
      message: `identity providers are used only with ${on}`,
    },
    {
      keys: [list],
      wrong: settings => hasTwice(settings[list]),
      message: 'an identity provider is listed twice',
    },
    {
      keys: [list, required[0]],
      // It has the names of all providers that have any setting.
      wrong: settings => [...settings[required[0]].keys()].some(idp => !settings[list].includes(idp)),
      message: `an identity provider has settings, but is not listed in ${list}`,
    },
    ...required.map(
      (of): Check => ({
        keys: [list, of],
        wrong: settings => isUsed(settings) && settings[list].some(idp => settings[of].get(idp) === undefined),
        message: `every identity provider needs its ${of.slice(of.indexOf('>') + 2)}`,
      }),
    ),
    {
      keys: [defaultIdp, list],
      wrong: settings => {
        const idp = settings[defaultIdp]
        return idp !== undefined && !settings[list].includes(idp)
      },
      message: 'the default identity provider is not listed',
    },
  ]
}
