import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository } from './support/service.ts'

test('every test that docs/security.md names is there', () => {
  const page = readFileSync(join(repository, 'docs/security.md'), 'utf8')
  const named = [...page.matchAll(/\]\(\.\.\/(test\/[^)]+\.test\.ts)\) “([^”]+)”/g)]
  assert.ok(named.length > 100, 'the table was not found')
  for (const [, file = '', title = ''] of named) {
    const text = readFileSync(join(repository, file), 'utf8').replaceAll("\\'", "'")
    assert.ok(text.includes(title), `${file} has no “${title}”`)
  }
})
