import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promises } from '../src/features/verify/promises.ts'
import { repository } from './support/service.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
const recorded = read('docs/reference/stable-names.txt').trim().split('\n')
const { stdout } = spawnSync(process.execPath, ['scripts/stable-names.mjs'], { cwd: repository, encoding: 'utf8' })
const present = stdout.trim().split('\n')

test('every name that was released exists, or CHANGELOG says under Upgrading what happens without it', () => {
  assert.ok(present.length > 400 && recorded.length > 400, 'the lists were not found')
  const unreleased = read('CHANGELOG.md').split(/^## /m)[1] ?? ''
  const upgrading = unreleased.split(/^### /m).find(section => section.startsWith('Upgrading')) ?? ''
  const gone = recorded.filter(name => !present.includes(name))
  assert.deepEqual(
    gone.filter(name => !upgrading.includes(name.slice(name.indexOf(' ') + 1))),
    [],
  )
})

test('every name is recorded: after a new one, run `npm run stable`', () => {
  assert.deepEqual(
    present.filter(name => !recorded.includes(name)),
    [],
  )
})

test('`verify` judges findings of `doctor` that exist', () => {
  const codes = promises.flatMap(promised => promised.codes ?? [])
  assert.ok(codes.length > 20, 'the codes were not found')
  assert.deepEqual(
    codes.filter(code => !recorded.includes(`finding ${code}`)),
    [],
  )
})
