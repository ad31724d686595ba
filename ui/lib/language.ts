import { en, type MessageKey, type Messages } from '../messages/en.ts'

/** Tags of the available languages, from an attribute of the page; each has one file in `ui/messages`. */
const tags: readonly string[] = (document.documentElement.dataset['languages'] ?? 'en').split(' ')

/** Tag and native name of each language. */
export const languages: ReadonlyArray<readonly [string, string]> = tags.map(tag => {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  return [tag, name.charAt(0).toLocaleUpperCase(tag) + name.slice(1)]
})

let current = 'en'
let messages: Messages = en

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
  messages = chosen === 'en' ? en : await loadMessages(chosen)
  current = chosen
  document.documentElement.lang = current
}

/** Each language is a separate file that is fetched when it is chosen. */
async function loadMessages(tag: string): Promise<Messages> {
  const loaded = (await import(`../messages/${tag}.ts`)) as { readonly default: Messages }
  return loaded.default
}

/** A message in the language of the page; `{name}` is replaced by the value of that name. */
export function t(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  return messages[key].replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
}

/** The message for a key that was built at run time, if there is one. */
export function findMessage(key: string, values?: Readonly<Record<string, string | number>>): string | undefined {
  return Object.hasOwn(messages, key) ? t(key as MessageKey, values) : undefined
}
