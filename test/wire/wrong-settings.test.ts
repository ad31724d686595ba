import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stowage } from '../support/cli.ts'
import { selfSigned } from '../support/self-signed.ts'
import { ADMIN_PASSWORD } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Wrong {
  readonly settings: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly says: RegExp
}

const files = await temporaryFolder()
const file = async (name: string, text: string, mode = 0o600): Promise<string> => {
  await writeFile(join(files, name), text, { mode })
  return join(files, name)
}
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = await file('key.pem', rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
const otherCertificate = await file('other.pem', selfSigned().cert)
const noKey = await file('no-key', 'something else\n')
const openKey = await file('open-key', `${Buffer.alloc(32, 7).toString('base64')}\n`, 0o644)

const saml = {
  'service.auth.saml': 'new',
  'service.auth.saml.assertion-consumer-service.url': 'https://content.example/auth/saml',
  'service.auth.saml.idps.1': 'campus',
  'service.auth.saml.idp.campus.relying-party-id': 'stowage',
  'service.auth.saml.idp.campus.metadata.url': 'https://idp.example/metadata',
}
const samlKeys = (use: string) => ({
  ...saml,
  [`service.auth.saml.${use}.key-file`]: key,
  [`service.auth.saml.${use}.certificate-file`]: otherCertificate,
})
const inDatabase = { 'service.auth.token.store': 'database' }
const redis = {
  'service.auth.token.store': 'redis',
  'service.auth.token.key-file': join(files, 'made-by-nobody'),
  'service.cluster.redis.url': 'rediss://127.0.0.1:1',
  'service.cluster.redis.key-file': key,
}

const wrong: Readonly<Record<string, Wrong>> = {
  'a value': { settings: { 'service.data.quota': 'perhaps' }, says: /service\.data\.quota.*perhaps/ },
  'a file instead of the data folder': {
    settings: { 'service.data.folder': join(noKey, 'below') },
    says: /data folder .*below cannot be used: .*no-key is a file, not a folder/,
  },
  'no token key': { settings: inDatabase, says: /either service\.auth\.token\.key-file or .*SERVICE_AUTH_TOKEN_KEY/ },
  'a token key in the environment': {
    settings: inDatabase,
    env: { SERVICE_AUTH_TOKEN_KEY: 'short' },
    says: /SERVICE_AUTH_TOKEN_KEY, line 1: expected 32 random bytes/,
  },
  'a token key that others read': {
    settings: { ...inDatabase, 'service.auth.token.key-file': openKey },
    says: /open-key contains keys, and other users .*chmod 600/,
  },
  'a token key without a folder': {
    settings: { ...inDatabase, 'service.auth.token.key-file': join(files, 'nowhere/token.key') },
    says: /token\.key cannot be used: it does not exist, and this user cannot create files in .*nowhere/,
  },
  'the keys of second factors': {
    settings: { 'service.auth.second-factor.key-file': noKey },
    says: /no-key, line 1: expected 32 random bytes/,
  },
  'a list of breached passwords': {
    settings: { 'service.auth.password.rule.breached': noKey },
    says: /list of breached passwords .*no-key cannot be used/,
  },
  'the recipient of backups': {
    settings: { 'service.backup.encrypt-to.1': 'age1nokey' },
    says: /service\.backup\.encrypt-to.* is not a public key of age/,
  },
  'a certificate of the database': {
    settings: { 'service.repository.store.url': `postgres://user@127.0.0.1:1/db?sslrootcert=${files}/no-root.pem` },
    says: /database 127\.0\.0\.1:1\/db cannot be used: .*no-root\.pem/,
  },
  'a certificate for Redis': {
    settings: { ...redis, 'service.cluster.redis.certificate-file': noKey },
    says: /certificate for Redis cannot be used .*no-key/,
  },
  'the certificate of another key for Redis': {
    settings: { ...redis, 'service.cluster.redis.certificate-file': otherCertificate },
    says: /certificate for Redis cannot be used .*other\.pem/,
  },
  'the key that signs': { settings: samlKeys('signing'), says: /key\.pem does not belong to .*other\.pem/ },
  'the key that decrypts': { settings: samlKeys('encryption'), says: /key\.pem does not belong to .*other\.pem/ },
  'the certificate of metadata': {
    settings: { ...saml, 'service.auth.saml.idp.campus.metadata.certificate-file': noKey },
    says: /no-key holds no certificate in PEM/,
  },
  'the first password of admin': {
    settings: {},
    env: { SERVICE_ADMIN_PASSWORD: 'short' },
    says: /SERVICE_ADMIN_PASSWORD cannot be the first password of admin: it has 5 characters/,
  },
}

const argumentsOf = (settings: Wrong['settings']): string[] =>
  Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])

for (const [what, { settings, env = {}, says }] of Object.entries(wrong)) {
  test(`config check refuses what serve refuses, which ends with 78 in one line: ${what} (D10.5)`, async () => {
    const folder = await temporaryFolder()
    const args = argumentsOf({ 'service.http.port': '0', 'service.data.folder': join(folder, 'data'), ...settings })
    const environment = { SERVICE_ADMIN_PASSWORD: ADMIN_PASSWORD, ...env }
    const check = await stowage(folder, ['config', 'check', ...args], environment)
    assert.equal(check.status, 1, check.stdout)
    assert.match(check.stderr, says)
    assert.deepEqual(await readdir(folder), [], 'a check writes nothing')
    const serve = await stowage(folder, ['serve', ...args], environment)
    assert.equal(serve.status, 78, serve.stderr)
    assert.match(serve.stderr, says)
    assert.doesNotMatch(check.stderr + serve.stderr, /^ {4}at /m)
  })
}

test('config check names all files that are wrong, and accepts a key that a start creates (D10.5)', async () => {
  const folder = await temporaryFolder()
  const check = async (settings: Wrong['settings']) =>
    await stowage(folder, [
      'config',
      'check',
      ...argumentsOf({ 'service.data.folder': join(folder, 'data'), ...settings }),
    ])
  const twice = await check({
    'service.auth.second-factor.key-file': noKey,
    'service.auth.password.rule.breached': openKey,
  })
  assert.equal(twice.status, 1)
  assert.match(twice.stderr, /no-key[^]*\n.*open-key/)
  for (const key of [join(folder, 'token.key'), join(folder, 'data/token.key')])
    assert.equal((await check({ ...inDatabase, 'service.auth.token.key-file': key })).stderr, '')
  assert.deepEqual(await readdir(folder), [])
})

test('config check refuses an address that is not one of this machine; a start ends with 1, as the address may come (D10.5)', async () => {
  const folder = await temporaryFolder()
  // An address for documents (RFC 5737), and a name that cannot exist (RFC 6761).
  for (const [host, says] of [
    ['192.0.2.1', /Cannot listen on 192\.0\.2\.1 port 0: this machine has no such address/],
    ['no-host.invalid', /Cannot listen on no-host\.invalid port 0: (there is no such host|the name .* looked up)/],
  ] as const) {
    const args = argumentsOf({ 'service.http.host': host, 'service.http.port': '0', 'service.data.folder': folder })
    for (const command of [['config', 'check'], ['serve']]) {
      const { status, stderr } = await stowage(folder, [...command, ...args])
      assert.equal(status, 1, stderr)
      assert.match(stderr, says)
      assert.doesNotMatch(stderr, /^ {4}at /m)
    }
  }
})

test('unknown environment variables warn, and are refused with --strict (D10.3)', async () => {
  const folder = await temporaryFolder()
  for (const variable of ['SERVICE_DATA_QUOTAS', 'SERVICE_ADMIN_PASSWRD']) {
    const check = async (...flags: string[]) =>
      await stowage(folder, ['config', 'check', ...flags, ...argumentsOf({ 'service.data.folder': folder })], {
        [variable]: 'secret-value',
      })
    const lenient = await check()
    assert.equal(lenient.status, 0)
    assert.match(lenient.stderr, new RegExp(`warning: ${variable} is not the variable of a known setting`))
    const strict = await check('--strict')
    assert.equal(strict.status, 1)
    assert.match(strict.stdout, /unknown keys or variables/)
    assert.doesNotMatch(strict.stdout + strict.stderr, /secret-value/)
  }
})
