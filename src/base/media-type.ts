const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,127}"
const FORM = new RegExp(`^${TOKEN}/${TOKEN}$`)

/**
 * A media type as everything here compares, stores and serves it: `type/subtype` in lower case, without parameters (RFC 9110 8.3.1).
 * `undefined` for what is none.
 */
export function parseMediaType(text: string): string | undefined {
  const bare = text.split(';', 1)[0]?.trim() ?? ''
  return FORM.test(bare) ? bare.toLowerCase() : undefined
}
