import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './service.ts'

/**
 * Checks that each test that a page names, as `[file](../test/file.test.ts) “title”`, exists. A part of a title is enough.
 * @returns how many tests the page names
 */
export function assertNamedTests(page: string): number {
  const named = [...page.matchAll(/\]\(\.\.\/(test\/[^)]+\.test\.ts)\) “([^”]+)”/g)]
  for (const [, file = '', title = ''] of named) {
    const text = readFileSync(join(repository, file), 'utf8').replaceAll("\\'", "'")
    assert.ok(text.includes(title), `${file} has no “${title}”`)
  }
  return named.length
}
