import { en, type MessageKey, type Messages } from '../messages/en.ts'
import { sv } from '../messages/sv.ts'

const catalogues = { en, sv } satisfies Record<string, Messages>
export type Language = keyof typeof catalogues

/** Tag and own name of each language there is. */
export const languages: ReadonlyArray<readonly [Language, string]> = [
  ['en', 'English'],
  ['sv', 'Svenska'],
]

const isKnown = (tag: string): tag is Language => tag in catalogues

let current: Language = 'en'

export const currentLanguage = (): Language => current

/** For dates and numbers: the language of the page in the reader's own variety, as the browser knows it. */
export const currentLocale = (): string =>
  navigator.languages.find(tag => tag.split('-')[0]?.toLowerCase() === current) ?? current

/** The first of these that there is a catalogue for, by its primary part, counts from the next rendering on. */
export function chooseLanguage(wanted: ReadonlyArray<string | undefined>): void {
  current = wanted.map(tag => tag?.split('-')[0]?.toLowerCase() ?? '').find(isKnown) ?? 'en'
  document.documentElement.lang = current
}

/** The message in the language of the page; `{name}` stands for the value of that name. */
export function t(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  return catalogues[current][key].replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
}

/** The message for a key made of parts, if there is one. */
export function findMessage(key: string, values?: Readonly<Record<string, string | number>>): string | undefined {
  return Object.hasOwn(catalogues[current], key) ? t(key as MessageKey, values) : undefined
}
