import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { repository } from './support/service.ts'

const source = join(repository, 'src')
const migration = join(repository, 'migration')
const page = readFileSync(join(repository, 'docs/cryptography.md'), 'utf8')

/** Imports of whatever can encrypt, sign, hash or draw at random, itself or by TLS; types alone compute nothing. */
const MODULES =
  /^(?!import type ).*(?:from|import\()\s*'(?:node:(?:crypto|tls|https|http2)|@node-rs\/argon2|jose|xml-crypto|xml-encryption[^']*|@simplewebauthn\/server[^']*|age-encryption|openid-client|pg|@redis\/client|nodemailer|undici|@aws-sdk\/client-s3|@opentelemetry\/exporter[^']*)'/m
const GLOBALS = /\bcrypto\.(?:subtle|getRandomValues|randomUUID)\b/

const ALGORITHM = /'(sha1|sha256|sha384|sha512|md5|aes-\d+-[a-z]+)'/g
const nameOf = (algorithm: string): string => algorithm.toUpperCase().replace(/^SHA(?=\d)/, 'SHA-')

const files = [source, migration].flatMap(folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name)),
)
/** As the page names it: relative to `src/`, or below `migration/`. */
const nameOfFile = (file: string): string =>
  relative(file.startsWith(migration) ? repository : source, file).replaceAll('\\', '/')
const pathOf = (name: string): string => join(name.startsWith('migration/') ? repository : source, name)

/** The row of each file in the table of uses. */
function listed(): ReadonlyMap<string, string> {
  const table = page.slice(page.indexOf('## Uses'), page.indexOf('## Keys'))
  const rows = table.split('\n').filter(line => line.startsWith('| ') && line.includes('.ts`'))
  return new Map(
    rows.flatMap(row => [...row.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = '']) => [file, row] as const)),
  )
}

test('docs/cryptography.md lists every file that uses cryptography, and no other', () => {
  const found = files.filter(file => {
    const text = readFileSync(file, 'utf8')
    return MODULES.test(text) || GLOBALS.test(text)
  })
  assert.deepEqual([...listed().keys()].sort(), found.map(nameOfFile).sort())
})

test('the row of a file names each algorithm that the file does', () => {
  let count = 0
  for (const [file, row] of listed()) {
    const text = readFileSync(pathOf(file), 'utf8')
    for (const [, algorithm = ''] of text.matchAll(ALGORITHM)) {
      assert.ok(row.includes(nameOf(algorithm)), `${file}: ${algorithm}`)
      count++
    }
  }
  assert.ok(count > 30, 'the table was not found')
})

test('the libraries that compute are those that the page names', () => {
  const { dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>
  }
  const cryptographic =
    /argon2|bcrypt|scrypt|jose|jsonwebtoken|crypt|age-encryption|webauthn|forge|tweetnacl|noble|sodium|otp/
  for (const name of Object.keys(dependencies).filter(name => cryptographic.test(name))) {
    assert.ok(page.includes(`\`${name}\``), name)
  }
})
