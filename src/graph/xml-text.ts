import { NotAcceptable } from '../base/errors.ts'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * Escapes text for content and attributes. A parser would turn a bare carriage return into another line end,
 * so it is escaped too.
 * @throws {NotAcceptable} for characters that XML does not allow
 */
export function escaped(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are just what XML cannot hold
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) {
    throw unwritable('it contains a character that XML does not allow')
  }
  return text.replaceAll(/[&<>"\r]/g, found => entities[found] ?? '&#13;')
}

export const unwritable = (reason: string): NotAcceptable =>
  new NotAcceptable('not-acceptable', `This graph cannot be written in XML: ${reason}.`)
