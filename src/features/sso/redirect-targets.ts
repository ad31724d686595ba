import { InvalidInput } from '../../base/errors.ts'
import type { BaseAddress } from '../../http/base-address.ts'

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

/** Reads the base address at each call: its port may be known only once the service listens. */
export const redirectTargets = (
  base: () => BaseAddress,
  whitelist: readonly string[],
): Pick<RedirectTargets, 'require'> => ({
  require: (text, name) => new RedirectTargets(new URL(base().href).host, whitelist).require(text, name),
})
