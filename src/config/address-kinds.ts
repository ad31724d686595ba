import { isAbsolute } from 'node:path'
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { parseMediaType } from '../base/text.ts'
import { type Setting, type SettingOptions, setting, settingsOf, trimmed } from './setting.ts'

interface UrlOptions {
  /** Default: http and https. */
  readonly protocols?: readonly string[]
  /** The URL denotes a folder: a slash is added to its end, and it has neither query nor fragment. */
  readonly folder?: true
  /** User name and password may be part of the URL, which makes all of it a secret. */
  readonly credentials?: true
}

/** An absolute URL. The value is kept as written, or normalised if it denotes a folder. */
export function absoluteUrl<D extends string | undefined = undefined>(
  options: SettingOptions<D> & UrlOptions,
): Setting<string, D> {
  const { protocols = ['http', 'https'], folder = false, credentials = false } = options
  const expects = [
    `an absolute URL (${protocols.map(protocol => `${protocol}:`).join(', ')})`,
    folder ? 'without query or fragment' : '',
    credentials
      ? 'with the special characters of a user name or password escaped, such as %2F for /'
      : 'without user name',
  ]
  const kind = trimmed(expects.filter(Boolean).join(', '), text => {
    const url = readUrl(text, protocols)
    if (!url || (credentials ? !hasEscapedCredentials(text) : url.hasCredentials)) return undefined
    if (!folder) return text
    return /[?#]/.test(text) ? undefined : url.href.replace(/\/?$/, '/')
  })
  return setting({ ...kind, secret: credentials }, options)
}

function readUrl(text: string, protocols: readonly string[]): { href: string; hasCredentials: boolean } | undefined {
  // Stricter than `URL`, which drops tabs and line breaks, treats `\` as `/`, accepts `http:///h`, and allows a `*` in a
  // host.
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(text)
  const protocol = match?.[1]?.toLowerCase() ?? ''
  const authority = match?.[2] ?? ''
  if (/[\s\\\p{Cc}]/u.test(text) || /\*[^@]*$/.test(authority) || !protocols.includes(protocol)) return undefined
  if ((authority === '') !== (protocol === 'file') || !URL.canParse(text)) return undefined
  return { href: new URL(text).href, hasCredentials: authority.includes('@') }
}

/** A `/` in a password would make the rest of it a part of the path, which messages show. */
function hasEscapedCredentials(text: string): boolean {
  const [, credentials = '', rest = ''] = /^[^:]+:\/\/(?:([^/?#]*)@)?(.*)$/.exec(text) ?? []
  return !rest.includes('@') && !/%(?![\da-f]{2})/i.test(credentials)
}

/** Scheme, host and port of a site, in the form of the `Origin` header. */
export const origin = settingsOf(
  trimmed('an origin such as https://app.example, or * for all', text => {
    if (text === '*') return text
    const url = readUrl(text, ['http', 'https'])
    if (!url || url.hasCredentials) return undefined
    const { origin } = new URL(text)
    return url.href === `${origin}/` ? origin : undefined
  }),
)

/** A domain or host name. The value is in lower case, international names in their ASCII form. */
export const domain = settingsOf(
  trimmed('a domain such as example.com', text => {
    // Checked before and after: the conversion cuts off the text after a slash, and accepts unusual characters.
    if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return undefined
    const ascii = domainToASCII(text)
    const label = '[a-z0-9]([a-z0-9-]*[a-z0-9])?'
    return new RegExp(`^${label}(\\.${label})*$`).test(ascii) ? ascii : undefined
  }),
)

/** A host name or IP address, with a port or without. The value is in the form of URLs. */
export const host = settingsOf(
  trimmed('a host such as example.org, example.org:8443 or [2001:db8::1]:8443', text => {
    const [, name = '', port = ''] = /^(\[[0-9a-f:.]+\]|[\p{L}\p{M}\p{N}.-]+)(:\d{1,5})?$/iu.exec(text) ?? []
    if (!URL.canParse(`http://${name}${port}`)) return undefined
    // Without its port, because `URL` drops the default port.
    const { hostname } = new URL(`http://${name}`)
    return hostname === '' || hostname.endsWith('.') ? undefined : hostname + port
  }),
)

/** A range of IP addresses; a single address is a range of one. The value always has a prefix length. */
export const cidr = settingsOf(
  trimmed('an address range such as 10.0.0.0/8 or fd00::/8', text => {
    const [address = '', prefix, ...rest] = text.split('/')
    const version = isIP(address)
    if (version === 0 || address.includes('%') || rest.length > 0) return undefined
    const bits = version === 4 ? 32 : 128
    if (prefix === undefined) return `${address}/${bits}`
    return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits ? `${address}/${Number(prefix)}` : undefined
  }),
)

/** A media type without parameters, in lower case. */
export const mediaType = settingsOf(
  trimmed('a media type such as application/pdf, without parameters', text =>
    /[;*]/.test(text) ? undefined : parseMediaType(text),
  ),
)

const BUCKET = 's3://bucket or s3://bucket/prefix with letters, digits and !_.*()-'

/** `folder`, or a bucket with or without a prefix; the value has no slash at its end. */
export const blobPlace = settingsOf(
  trimmed(`folder, or ${BUCKET}`, text => (text.toLowerCase() === 'folder' ? 'folder' : readBucket(text))),
)

/** The absolute path of a folder, or a bucket like that of {@link blobPlace}. */
export const backupPlace = settingsOf(
  trimmed(`the absolute path of a folder, or ${BUCKET}`, text => {
    if (/^[a-z0-9]+:\/\//i.test(text)) return readBucket(text)
    return /\p{Cc}/u.test(text) || !isAbsolute(text) ? undefined : text
  }),
)

function readBucket(text: string): string | undefined {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w!.*()-]+)*)\/?$/i.exec(text)
  const [, bucket = '', prefix = ''] = match ?? []
  // Clients and servers normalise dots in different ways.
  if (!match || bucket !== bucket.toLowerCase() || prefix.split('/').some(part => /^\.+$/.test(part))) return undefined
  return prefix.length <= 900 ? `s3://${bucket}${prefix}` : undefined
}
