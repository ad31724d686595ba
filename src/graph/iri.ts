/** What an IRI under the base address begins with inside the store. No absolute IRI begins like this. */
export const RELATIVE = './'

/** The inside form of an IRI: relative when it lies under `base` (which ends in a slash), else unchanged. */
export const toRelative = (base: string, iri: string): string =>
  iri.startsWith(base) ? RELATIVE + iri.slice(base.length) : iri

/** The outside form: absolute again. */
export const toAbsolute = (base: string, iri: string): string =>
  iri.startsWith(RELATIVE) ? base + iri.slice(RELATIVE.length) : iri

/**
 * An absolute IRI: it has a scheme, and no characters that RFC 3987 never allows, nor halves of surrogate
 * pairs. The check is not stricter, because clients send principals with unusual IRIs, which are stored
 * unchanged (W2.4).
 */
export const isAbsoluteIri = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- control characters are just what is refused
  /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$/.test(text) && text.isWellFormed() && !text.endsWith('.')
