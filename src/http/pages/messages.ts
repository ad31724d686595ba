import { en, type Words } from './messages-en.ts'
import { sv } from './messages-sv.ts'

/** Language tag → catalogue; the first is the one for everybody else. */
export const catalogues: Readonly<Record<'en' | 'sv', Words>> = { en, sv }
export type Language = keyof typeof catalogues
export const languages = Object.keys(catalogues) as Language[]

/** A problem in the reader's words, where there are some for its code. */
export const wordsForProblem = (words: Words, code: string): string | undefined =>
  (words as Readonly<Record<string, string>>)[`problem.${code}`]
