import { en, type MessageKey, type Messages } from '../messages/en.ts'

/** Languages that the pages come in: one file of `ui/messages` each, as the page names them. */
const tags: readonly string[] = (document.documentElement.dataset['languages'] ?? 'en').split(' ')

/** Tag and own name of each language. */
export const languages: ReadonlyArray<readonly [string, string]> = tags.map(tag => {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  return [tag, name.charAt(0).toLocaleUpperCase(tag) + name.slice(1)]
})

let current = 'en'
let messages: Messages = en

export const currentLanguage = (): string => current

/** For dates and numbers: the language of the page in the reader's own variety, as the browser knows it. */
export const currentLocale = (): string =>
  navigator.languages.find(tag => tag.split('-')[0]?.toLowerCase() === current) ?? current

/** Uses the first of these languages that there are messages for, by primary subtag, from the next rendering on. */
export async function chooseLanguage(wanted: ReadonlyArray<string | undefined>): Promise<void> {
  const primary = wanted.map(tag => tag?.split('-')[0]?.toLowerCase() ?? '')
  const chosen = primary.find(tag => tags.includes(tag)) ?? 'en'
  messages = chosen === 'en' ? en : await loadMessages(chosen)
  current = chosen
  document.documentElement.lang = current
}

/** Each language is a file of its own, fetched when it is used. */
async function loadMessages(tag: string): Promise<Messages> {
  const loaded = (await import(`../messages/${tag}.ts`)) as { readonly default: Messages }
  return loaded.default
}

/** The message in the language of the page; `{name}` stands for the value of that name. */
export function t(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  return messages[key].replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
}

/** The message for a key made of parts, if there is one. */
export function findMessage(key: string, values?: Readonly<Record<string, string | number>>): string | undefined {
  return Object.hasOwn(messages, key) ? t(key as MessageKey, values) : undefined
}
