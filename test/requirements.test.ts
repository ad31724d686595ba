import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertNamedTests } from './support/named-tests.ts'
import { repository } from './support/service.ts'

const page = readFileSync(join(repository, 'docs/requirements.md'), 'utf8')
const decisions = readFileSync(join(repository, 'docs/decisions.md'), 'utf8')

/** Sections and rows: `W3.8.1` is there if it is a row, or if rows such as `W3.8.1a` are. */
const numbers = new Set([...page.matchAll(/^\| ([IWD]\d+(?:\.\d+)*)[a-z]? \|/gm)].map(([, number = '']) => number))

test('every test that docs/requirements.md names is there', () => {
  assert.ok(assertNamedTests(page) > 150, 'the tables were not found')
})

test('every requirement has a test, or a reason why there is none', () => {
  const rows = [...page.matchAll(/^\| ([IWD]\d\S*) \|(.*)\|$/gm)]
  assert.ok(rows.length > 150)
  const unproven = rows.filter(([, , rest = '']) => !/“[^”]+”|No test: \S/.test(rest)).map(([, number]) => number)
  assert.deepEqual(unproven, [])
})

test('every decision has a row', () => {
  const missing = [...decisions.matchAll(/^## (D\d+) .*\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)]
    .flatMap(([, chapter = '', text = '']) => [...text.matchAll(/^(\d+)\. /gm)].map(([, row]) => `${chapter}.${row}`))
    .filter(number => !numbers.has(number))
  assert.deepEqual(missing, [])
})

test('every citation in code, tests and documents resolves', () => {
  const sources = ['src', 'test', 'ui', 'bench', 'scripts', 'docs'].flatMap(folder =>
    readdirSync(join(repository, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && /\.(ts|tsx|mjs|md)$/.test(entry.name))
      .map(entry => join(entry.parentPath, entry.name)),
  )
  assert.ok(sources.length > 500, 'the sources were not found')
  const broken = sources.flatMap(file => {
    const text = readFileSync(file, 'utf8')
    const cited = [...text.matchAll(/(?<![\w.#/&-])([IWD]\d+\.\d+(?:\.\d+)*)\b(?![\w-])/g)].map(
      ([, number = '']) => number,
    )
    const outside = [...text.matchAll(/\bwire facts \d|\(interface \d/gi)].map(([found]) => found)
    return [...cited.filter(number => !resolves(number)), ...outside].map(number => `${file}: ${number}`)
  })
  assert.deepEqual(broken, [])
})

const resolves = (number: string): boolean =>
  numbers.has(number) || [...numbers].some(known => known.startsWith(`${number}.`))
