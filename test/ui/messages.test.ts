import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../support/service.ts'
import de from '../../ui/messages/de.ts'
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
  const files = readdirSync(join(repository, 'ui/messages')).sort()
  assert.deepEqual(files, ['en', ...others.map(([language]) => language)].map(name => `${name}.ts`).sort())
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
