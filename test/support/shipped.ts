import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { repository } from './service.ts'

/** The text of an example in `deploy/`. */
export const shipped = (file: string): Promise<string> => readFile(join(repository, 'deploy', file), 'utf8')

/** Puts real values in the places of the example's own; each of those must be there. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((filled, [placeholder, value]) => {
    if (!filled.includes(placeholder)) throw new Error(`the example has no ${placeholder}`)
    return filled.replaceAll(placeholder, value)
  }, text)
}
