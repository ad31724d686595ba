import { SsoRefused } from '../refusal.ts'
import { trimBlanks } from '../xml-element.ts'

/**
 * CAS 1: `yes`, a line feed, the name, a line feed; the last one may be missing. Nothing else: of a reply with CRLF or
 * more lines one would have to guess which part of it is the name.
 */
export function nameInCas1(text: string): string {
  if (/^no(\n|$)/.test(text)) throw new SsoRefused({ check: 'cas-failure', expected: 'yes', received: text.trim() })
  const name = /^yes\n([^\p{Cc}]+)\n?$/u.exec(text)?.[1]
  // The CAS server should remove blanks around the name; a blank line is not a name.
  if (name !== undefined && name.trim() !== '') return trimBlanks(name)
  throw new SsoRefused({ check: 'cas-reply', expected: 'two lines: yes, and a name', received: JSON.stringify(text) })
}
