import type { MessageKey } from '../../../ui/messages/en.ts'

type PageKey<K extends string> = K extends `page.${infer Key}` ? Key : never
/** The words that the pages of the service use: the texts in `ui/messages` whose keys begin with `page.`. */
export type Words = Readonly<Record<PageKey<MessageKey>, string>>

/** Words by language tag; English is always among them. */
export type Catalogues = Readonly<Record<string, Words>>

/**
 * A problem in the reader's words, where there are some for its code and all their places can be filled. The words for a refused
 * sign-on can be more precise: for its check.
 */
export function wordsForProblem(
  words: Words,
  code: string,
  values: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const known = words as Readonly<Record<string, string>>
  const isComplete = (message: string): boolean =>
    message.match(/\{(\w+)\}/g)?.every(place => place.slice(1, -1) in values) ?? true
  const message = [`problem.${code}.${String(values['check'])}`, `problem.${code}`]
    .map(key => known[key])
    .find(one => one !== undefined && isComplete(one))
  return message?.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}
