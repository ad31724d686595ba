import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertNamedTests } from './support/named-tests.ts'
import { repository } from './support/service.ts'

test('every test that docs/security.md names is there', () => {
  const page = readFileSync(join(repository, 'docs/security.md'), 'utf8')
  assert.ok(assertNamedTests(page) > 100, 'the table was not found')
})
