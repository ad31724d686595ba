import { InvalidInput } from '../base/errors.ts'

/**
 * Where people may be sent after a sign-on (D8.7): absolute http(s) addresses on a whitelisted host or the service's own.
 * Judged on the text as it came, so that no browser reads it differently.
 */
export class RedirectTargets {
  readonly #hosts: ReadonlySet<string>

  /** @param ownHost host of the base address, with its port. @param whitelist hosts, on any port */
  constructor(ownHost: string, whitelist: readonly string[]) {
    this.#hosts = new Set([ownHost.toLowerCase(), ...whitelist.map(host => host.toLowerCase())])
  }

  /** @throws {InvalidInput} `invalid-redirect` */
  require(text: string, parameter: string): string {
    const url = this.#parse(text)
    if (url && (this.#hosts.has(url.host) || this.#hosts.has(url.hostname))) return url.href
    throw new InvalidInput(
      'invalid-redirect',
      `\`${parameter}\` must be an http(s) address on the host of this service or on a host of \`redirect-domain-whitelist\`.`,
    )
  }

  #parse(text: string): URL | undefined {
    // Two slashes right after the scheme, and none of the characters that browsers drop or turn into slashes.
    if (!/^https?:\/\/[^/\\]/i.test(text) || /[\\\s\p{C}]/u.test(text) || !URL.canParse(text)) return undefined
    // No user name, not even an empty one.
    return /^https?:\/\/[^/?#]*@/i.test(text) ? undefined : new URL(text)
  }
}

/** The address with additional parameters. Its existing query is unchanged, and its fragment stays at the end. */
export function withQuery(address: string, parameters: Readonly<Record<string, string>>): string {
  const [, before = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(address) ?? []
  const more = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const glue = !before.includes('?') ? '?' : /[?&]$/.test(before) ? '' : '&'
  return `${before}${glue}${more.join('&')}${fragment}`
}
