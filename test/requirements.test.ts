import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { citedByTests } from './support/citations.ts'
import { repository } from './support/service.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
const [words = ''] = read('docs/requirements.md').split('<!-- tests -->')
/** Rows such as `I2.1a` and `I2.1b` are one requirement, `I2.1`. */
const requirements = [...words.matchAll(/^\| ([IW]\d+(?:\.\d+)*)[a-z]? \|/gm)].map(([, number = '']) => number)
const rules = [...read('docs/reference/behaviour.md').matchAll(/^- \*\*(D\d+\.\d+)\*\* /gm)].map(
  ([, number = '']) => number,
)
const numbers = new Set([...requirements, ...rules])

/** True for a number that is there, and for a part of one: `D7` stands for all rules that begin with it. */
const resolves = (number: string): boolean =>
  numbers.has(number) || [...numbers].some(known => known.startsWith(`${number}.`))

test('every requirement and every rule has a test whose title cites it', () => {
  assert.ok(numbers.size > 300, 'the requirements were not found')
  assert.equal(new Set(rules).size, rules.length, 'a number is given twice')
  const cited = [...citedByTests().keys()]
  const unproven = [...numbers].filter(
    number => !cited.some(one => one === number || one.startsWith(`${number}.`) || number.startsWith(`${one}.`)),
  )
  assert.deepEqual(unproven, [])
})

test('every citation in code, tests and documents resolves', () => {
  const sources = ['src', 'migration', 'test', 'ui', 'bench', 'scripts', 'docs'].flatMap(folder =>
    readdirSync(join(repository, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && /\.(ts|tsx|mjs|md)$/.test(entry.name))
      .map(entry => join(entry.parentPath, entry.name)),
  )
  assert.ok(sources.length > 500, 'the sources were not found')
  const broken = sources.flatMap(file => {
    const text = readFileSync(file, 'utf8')
    const cited = [
      ...text.matchAll(/(?<![\w.#/&-])([IWD]\d+\.\d+(?:\.\d+)*)\b(?![\w-])/g),
      ...text.matchAll(/\((D\d+)\)/g),
    ]
      .map(([, number = '']) => number)
      .filter(number => !resolves(number))
    const notes = [...text.matchAll(/\(adr: ([a-z-]+)\)/g)]
      .map(([, name = '']) => name)
      .filter(name => !existsSync(join(repository, 'docs/dev/adr', `${name}.md`)))
    const outside = [...text.matchAll(/\bwire facts \d|\(interface \d/gi)].map(([found]) => found)
    return [...cited, ...notes, ...outside].map(number => `${file}: ${number}`)
  })
  assert.deepEqual(broken, [])
})
