import { en, type Words } from './messages-en.ts'
import { sv } from './messages-sv.ts'

/** Language tag → catalogue; the first is the one for everybody else. */
export const catalogues: Readonly<Record<'en' | 'sv', Words>> = { en, sv }
export type Language = keyof typeof catalogues
export const languages = Object.keys(catalogues) as Language[]

/** A problem in the reader's words, where there are some for its code and all their places can be filled. */
export function wordsForProblem(
  words: Words,
  code: string,
  values: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const message = (words as Readonly<Record<string, string>>)[`problem.${code}`]
  const isComplete = message?.match(/\{(\w+)\}/g)?.every(place => place.slice(1, -1) in values) ?? true
  return isComplete ? message?.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name])) : undefined
}
