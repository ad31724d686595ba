import { SsoRefused } from '../refusal.ts'
import { textOf, trimBlanks, type XmlElement } from '../xml-element.ts'

/** Returns the text of the single element, which must contain text and nothing else. @throws {SsoRefused} */
export function onlyText(what: string, elements: readonly XmlElement[]): string {
  const [element, ...others] = elements
  if (!element || others.length > 0) throw refused(what, `${elements.length}`)
  const text = textOf(element)
  if (text === undefined) throw refused(what, 'elements inside')
  const trimmed = trimBlanks(text)
  if (trimmed === '') throw refused(what, 'an empty one')
  return trimmed
}

const refused = (what: string, received: string): SsoRefused =>
  new SsoRefused({ check: 'cas-reply', expected: `exactly one ${what}, of text only`, received })
