import type { ComponentChildren } from 'preact'
import type { MessageKey, Messages } from '../messages/en.ts'

/**
 * Where the texts of each available language are, by its tag, from an attribute of the page. Each has one file in
 * `ui/messages`, which is fetched when the language is chosen.
 */
const files = JSON.parse(document.documentElement.dataset['languages'] ?? '{}') as Readonly<Record<string, string>>
const tags = Object.keys(files)

/** Tag and native name of each language. */
export const languages: ReadonlyArray<readonly [string, string]> = tags.map(tag => {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  return [tag, name.charAt(0).toLocaleUpperCase(tag) + name.slice(1)]
})

let current = ''
/** Empty until the first language has been chosen, before anything is drawn. */
let messages = {} as Messages

export const currentLanguage = (): string => current

/** Locale for dates and numbers: the browser's variety of the page's language. */
export const currentLocale = (): string =>
  navigator.languages.find(tag => tag.split('-')[0]?.toLowerCase() === current) ?? current

/**
 * Chooses the first of these languages that is available, compared by primary subtag. Takes effect with the
 * next rendering.
 */
export async function chooseLanguage(wanted: ReadonlyArray<string | undefined>): Promise<void> {
  const primary = wanted.map(tag => tag?.split('-')[0]?.toLowerCase() ?? '')
  const chosen = primary.find(tag => tags.includes(tag)) ?? 'en'
  if (chosen === current) return
  const loaded = (await import(files[chosen] ?? '')) as { readonly default: Messages }
  messages = loaded.default
  current = chosen
  document.documentElement.lang = current
}

/** What a language is called in the language of the page; the tag itself if it is no language. */
export function nameOfLanguage(tag: string): string {
  try {
    return new Intl.DisplayNames([currentLocale()], { type: 'language' }).of(tag) ?? tag
  } catch {
    return tag
  }
}

/** Languages that people write texts in, beside those of the pages. */
const WRITTEN =
  'ar bg cs da de el en es et fa fi fr ga he hr hu is it ja ko lt lv mt nb nl nn pl pt ro ru se sk sl so sv tr uk zh'

/** Tag and name of the languages that a text can be in: the language of the page, the other languages of the pages, then all others by name. */
export function languageChoices(): ReadonlyArray<readonly [tag: string, name: string]> {
  const others = WRITTEN.split(' ')
    .filter(tag => !tags.includes(tag))
    .map(tag => [tag, nameOfLanguage(tag)] as const)
    .sort(([, one], [, other]) => one.localeCompare(other, current))
  const ofPages = [current, ...tags.filter(tag => tag !== current)]
  return [...ofPages.map(tag => [tag, nameOfLanguage(tag)] as const), ...others]
}

/** The keys of all messages. */
export const messageKeys = (): string[] => Object.keys(messages)

type Values = Readonly<Record<string, string | number>>

/**
 * A message in the language of the page; `{name}` is replaced by the value of that name, and `{name, plural, one {# day} other {# days}}`
 * by the text for that number, as in ICU messages.
 */
export function t(key: MessageKey, values: Values = {}): string {
  return fillIn(messages[key], values)
}

/** A text with these values in its places. */
export function fillIn(text: string, values: Values): string {
  return text
    .replaceAll(/\{(\w+), plural, ((?:\w+ \{[^{}]*\} ?)+)\}/g, (_, name: string, texts: string) =>
      plural(values[name], texts),
    )
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
}

/** @param value a number, or a formatted one @param texts `one {# day} other {# days}` */
function plural(value: string | number = '', texts: string): string {
  // A number that is formatted with separators is large, and `1.000` is not one.
  const category = new Intl.PluralRules(current).select(/^\d+$/.test(String(value)) ? Number(value) : Number.NaN)
  const byCategory = new Map([...texts.matchAll(/(\w+) \{([^{}]*)\}/g)].map(([, name, text = '']) => [name, text]))
  return (byCategory.get(category) ?? byCategory.get('other') ?? '').replaceAll('#', String(value))
}

/** A message whose places hold elements; `undefined` if there is no such message. */
export function tellWith(
  key: string,
  nodes: Readonly<Record<string, ComponentChildren>>,
): readonly ComponentChildren[] | undefined {
  if (!Object.hasOwn(messages, key)) return undefined
  return messages[key as MessageKey].split(/\{(\w+)\}/).map((text, index) => (index % 2 === 0 ? text : nodes[text]))
}

/** The message for a key that was built at run time, if there is one. */
export function findMessage(key: string, values?: Values): string | undefined {
  return Object.hasOwn(messages, key) ? t(key as MessageKey, values) : undefined
}
