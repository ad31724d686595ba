import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../../', import.meta.url))

/** The end of a title that cites requirements, such as `(D7.3, I8)`. */
const CITED = /\(((?:[IWD]\d+(?:\.\d+)*)(?:, [IWD]\d+(?:\.\d+)*)*)\)(?=['"`])/g
const TABLE = /(<!-- tests -->\n)[^]*?(<!-- end -->)/

/** The numbers that test titles cite, each with the paths of the test files. */
export function citedByTests(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  const paths = readdirSync(join(repository, 'test'), { recursive: true, encoding: 'utf8' })
    .map(path => `test/${path.replaceAll('\\', '/')}`)
    .filter(path => path.endsWith('.test.ts'))
  for (const path of paths) {
    for (const [, numbers = ''] of readFileSync(join(repository, path), 'utf8').matchAll(CITED)) {
      for (const number of numbers.split(', ')) found.set(number, (found.get(number) ?? new Set()).add(path))
    }
  }
  return found
}

/**
 * docs/requirements.md with a new table of tests, which replaces everything between `<!-- tests -->` and `<!-- end -->`.
 * @throws {TypeError} when the page has no place for the table
 */
export function withTests(page: string): string {
  if (!TABLE.test(page)) throw new TypeError('The page has no place for the table of tests.')
  const order = (number: string): number => 'IWD'.indexOf(number.charAt(0))
  const rows = [...citedByTests()]
    .toSorted(([a], [b]) => order(a) - order(b) || a.localeCompare(b, 'en', { numeric: true }))
    .map(([number, paths]) => `| ${number} | ${[...paths].toSorted().map(link).join(', ')} |\n`)
  return page.replace(TABLE, (_, begin: string, end: string) => {
    return `${begin}\n| No. | Tests |\n|---|---|\n${rows.join('')}\n${end}`
  })
}

const link = (path: string): string => `[${basename(path, '.test.ts')}](../${path})`
