import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../support/service.ts'
import { findingTexts } from '../support/findings.ts'
import de from '../../ui/messages/de.ts'
import deFindings from '../../ui/messages/findings/de.ts'
import svFindings from '../../ui/messages/findings/sv.ts'
import { en } from '../../ui/messages/en.ts'
import sv from '../../ui/messages/sv.ts'
import { errorCodes } from '../../src/base/error-codes.ts'
import { features } from '../../src/features/features.ts'

const others: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
  ['de', de],
  ['sv', sv],
]

/** Names of the values, which a text with forms for several numbers has once. */
const placesIn = (message: string): string[] =>
  [...message.matchAll(/\{(\w+)(?:\}|, plural,)/g)].map(([, place = '']) => place).sort()

test('each language is one file, and each file is tested here', () => {
  const files = readdirSync(join(repository, 'ui/messages')).filter(name => name.endsWith('.ts'))
  const languages = others.map(([language]) => `${language}.ts`)
  assert.deepEqual(files.sort(), ['en.ts', ...languages].sort())
  assert.deepEqual(readdirSync(join(repository, 'ui/messages/findings')).sort(), languages)
})

test('all languages have the same keys, no empty texts, and the same placeholders', () => {
  for (const [language, messages] of others) {
    assert.deepEqual(Object.keys(messages).sort(), Object.keys(en).sort(), language)
    for (const [key, message] of Object.entries<string>(en)) {
      assert.notEqual(message.trim(), '', key)
      assert.notEqual(messages[key]?.trim(), '', `${language}: ${key}`)
      assert.deepEqual(placesIn(messages[key] ?? ''), placesIn(message), `${language}: ${key}`)
    }
  }
})

const sourcesIn = (...path: readonly string[]): string =>
  readdirSync(join(repository, ...path), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.endsWith('messages'))
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')

test('no text of the service’s own pages is unused', () => {
  const sources = sourcesIn('src')
  const own = Object.keys(en).filter(key => key.startsWith('page.') && !/^page\.(?:mail|problem|rule)\./.test(key))
  assert.ok(own.length > 40)
  assert.deepEqual(
    own.filter(
      key => !new RegExp(`\\bwords\\.${key.slice(5)}\\b|\\{.*\\b${key.slice(5)}\\b.*\\} = .*words`).test(sources),
    ),
    [],
  )
})

test('no message is unused', () => {
  const sources = sourcesIn('ui')
  const made =
    /^(?:page|problem|rule|role|event|detail|check|part|origin|level|findings|principal|quotaOf|type|said|slot)\./
  const unused = Object.keys(en).filter(key => !made.test(key) && !sources.includes(`'${key}'`))
  assert.deepEqual(unused, [])
})

/** Codes of requests that the pages never send, or never wrongly. */
const ofPrograms =
  'invalid-logout-message invalid-logout-request invalid-logout-token invalid-redirect invalid-token method-not-allowed missing-body ' +
  'not-acceptable password-missing range-not-satisfiable sso-refused tus-version unknown-idp'

test('every refusal that a page can meet has a text in each language', () => {
  const codes = Object.keys({ ...errorCodes, ...Object.assign({}, ...features.map(({ codes }) => codes)) })
  const missing = codes.filter(code => !(`problem.${code}` in en))
  assert.deepEqual(missing.sort(), ofPrograms.split(' '))
})

/** Names of the values, each with the form in which it is shown. */
const formsIn = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{(\w+(?:, (?:size|time|plural))?)[,}]/g)].map(([, form = '']) => form))].sort()

test('every finding of doctor has a text in each language, with the same values as in English', () => {
  const english = findingTexts()
  assert.ok(english.size > 150, 'the findings were not found')
  for (const [language, texts] of [
    ['de', deFindings],
    ['sv', svFindings],
  ] as const) {
    assert.deepEqual(Object.keys(texts).sort(), [...english.keys()].sort(), language)
    for (const [code, text] of english) {
      assert.deepEqual(formsIn(texts[code] ?? ''), formsIn(text), `${language}: ${code}`)
      assert.ok((texts[code]?.split('{reason}').length ?? 0) <= 2, `${language}: ${code} quotes its reason twice`)
    }
  }
})
