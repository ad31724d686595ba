import assert from 'node:assert/strict'
import { quotaOptions } from '../../src/features/quotas/limits.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { StartupError } from '../../src/base/errors.ts'
import type { Finding } from '../../src/base/finding.ts'
import { variableOf } from '../../src/config/from-environment.ts'
import { keys } from '../../src/config/keys.ts'
import { type LoadedSettings, loadSettings } from '../../src/config/load.ts'
import { read, withSignOn } from './parsing.ts'

function load(text: string, ...overrides: string[]): LoadedSettings {
  return loadSettings({ file: { path: 'test.properties', text }, overrides })
}

/** What stopped the start, line by line. */
function problemsOf(text: string, ...overrides: string[]): string[] {
  try {
    load(text, ...overrides)
  } catch (error) {
    assert.ok(error instanceof StartupError)
    return error.message.split('\n')
  }
  return []
}

test('without file and overrides all settings are at their defaults', () => {
  const { settings, origins, warnings, unknown } = loadSettings({ overrides: [] })
  assert.equal(settings['service.http.port'], 8080)
  assert.equal(settings['service.auth.cookie.samesite'], 'strict')
  assert.equal(settings['service.data.max-file-size'], -1)
  assert.equal(settings['service.baseurl.folder'], undefined)
  assert.deepEqual(settings['service.http.trusted-proxies.<n>'], [])
  assert.equal(origins.get('service.http.port'), 'default')
  assert.equal(origins.has('service.baseurl.folder'), false)
  assert.deepEqual([...warnings, ...unknown], [])
})

test('the defaults are those of the specification (5.2, 5.3, 5.6, 5.8, 5.9, 8)', () => {
  const { settings } = loadSettings({ overrides: [] })
  assert.equal(settings['service.auth.cookie.max-age'], 86_400)
  assert.equal(settings['service.auth.cookie.httponly'], true)
  assert.equal(settings['service.auth.cookie.secure'], true)
  assert.equal(settings['service.auth.cookie.refresh-expiration-on-access'], true)
  assert.equal(settings['service.auth.http-basic'], false)
  assert.equal(withSignOn(settings)['service.auth.saml'], 'off')
  assert.equal(withSignOn(settings)['service.auth.saml.idp-metadata.max-age'], 604_800)
  assert.equal(withSignOn(settings)['service.auth.cas.version'], 'cas2')
  assert.equal(settings['service.auth.password'], 'on')
  assert.equal(settings['service.auth.password.rule.lowercase'], true)
  assert.equal(settings['service.auth.password.rule.symbol'], false)
  assert.equal(settings['service.auth.password.rule.min-length'], 10)
  assert.equal(settings['service.auth.temp.lockout.max.attempts'], 5)
  assert.equal(settings['service.auth.temp.lockout.duration'], 300_000)
  assert.equal(settings['service.auth.temp.lockout.admin'], true)
  assert.equal(quotaOptions(settings).enforced, false)
})

test('--set wins over the file, the file over the default, key by key (D10.1)', () => {
  const { settings, origins } = load(
    'service.http.port = 1000\nservice.http.host: 0.0.0.0\nservice.baseurl.folder https://h.example',
    'service.http.port=2000',
  )
  assert.equal(settings['service.http.port'], 2000)
  assert.equal(settings['service.http.host'], '0.0.0.0')
  assert.equal(settings['service.baseurl.folder'], 'https://h.example/')
  assert.equal(origins.get('service.http.port'), '--set')
  assert.equal(origins.get('service.http.host'), 'file')
  assert.equal(origins.get('service.http.json.max-size'), 'default')
})

test('--set can change one entry of a list in the file', () => {
  const lines = 'service.http.trusted-proxies.1=10.0.0.0/8\nservice.http.trusted-proxies.2=10.0.0.1'
  const { settings, origins } = load(lines, 'service.http.trusted-proxies.2=::1', 'service.http.trusted-proxies.3=::2')
  assert.deepEqual(settings['service.http.trusted-proxies.<n>'], ['10.0.0.0/8', '::1/128', '::2/128'])
  assert.equal(origins.get('service.http.trusted-proxies.1'), 'file')
  assert.equal(origins.get('service.http.trusted-proxies.2'), '--set')
})

test('a list has the order of its numbers, not of its lines', () => {
  const lines = Array.from(
    { length: 12 },
    (_, index) => `service.http.trusted-proxies.${index + 1}=10.0.0.${index + 1}`,
  )
  const { settings } = load(lines.reverse().join('\n'))
  assert.equal(settings['service.http.trusted-proxies.<n>'][1], '10.0.0.2/32')
  assert.equal(settings['service.http.trusted-proxies.<n>'][11], '10.0.0.12/32')
})

test('the value of --set may hold = signs', () => {
  const { settings } = load('', 'service.auth.adminpw=a=b= ')
  assert.equal(settings['service.auth.adminpw'], 'a=b= ')
})

test('the settings and their lists are frozen', () => {
  const { settings } = load('service.http.trusted-proxies.1=10.0.0.0/8')
  assert.ok(Object.isFrozen(settings))
  assert.ok(Object.isFrozen(settings['service.http.trusted-proxies.<n>']))
  assert.ok(Object.isFrozen(settings['service.data.inline-types.<n>']))
})

test('a byte order mark, CRLF, comments, escapes and continued lines are read as Java does', () => {
  const { settings } = load(
    '\uFEFFservice.http.port=81\r\n# service.http.host=x\r\n! y\r\nservice.data.folder = d\\u00e4t\\\r\n    a\u00df\r\n',
  )
  assert.equal(settings['service.http.port'], 81)
  assert.equal(settings['service.data.folder'], 'dätaß')
})

test('all problems are reported at once, each with key and value (D10.3)', () => {
  const problems = problemsOf(
    'service.http.port=http\nservice.data.quota=maybe',
    'service.data.max-file-size=10KB',
    'x',
  )
  assert.equal(problems.length, 4)
  assert.ok(problems.includes('service.http.port is "http": expected a whole number from 0 to 65535'))
  assert.ok(problems.some(line => line.startsWith('service.data.quota is "maybe"')))
  assert.ok(problems.some(line => line.startsWith('service.data.max-file-size is "10KB"')))
  assert.ok(problems.some(line => line.startsWith('--set expects key=value')))
})

test('unknown keys and variables are reported together with the problems that they may have caused (D10.3)', () => {
  assert.deepEqual(problemsOf('service.backup.shedule=@daily\nservice.backup.target=/b\nservice.http.port=http'), [
    'service.http.port is "http": expected a whole number from 0 to 65535',
    'scheduled backups need both a time and a place (service.backup.schedule=, service.backup.target=/b)',
    'service.backup.shedule is not a known key; did you mean service.backup.schedule?',
  ])
  assert.throws(
    () => loadSettings({ environment: { SERVICE_BACKUP_SHEDULE: '@daily' }, overrides: ['service.backup.target=/b'] }),
    /both a time and a place[^]*\nSERVICE_BACKUP_SHEDULE is not the variable .*did you mean SERVICE_BACKUP_SCHEDULE/,
  )
})

test('a gap in a numbered list stops the start and names the key (D10.3)', () => {
  assert.deepEqual(problemsOf('service.http.trusted-proxies.1=10.0.0.1\nservice.http.trusted-proxies.3=10.0.0.3'), [
    'service.http.trusted-proxies.2 is missing, but service.http.trusted-proxies.3 is "10.0.0.3"',
  ])
})

test('a list that does not begin with 1 stops the start (D10.3)', () => {
  assert.deepEqual(problemsOf('service.data.inline-types.2=application/pdf'), [
    'service.data.inline-types.1 is missing, but service.data.inline-types.2 is "application/pdf"',
  ])
})

test('a bare key beside a numbered one, or in its place, stops the start (D10.3)', () => {
  assert.deepEqual(problemsOf('service.data.inline-types=a/b\nservice.data.inline-types.1=a/c'), [
    'service.data.inline-types is "a/b", but it is a numbered list: service.data.inline-types.1 is set as well',
  ])
  assert.deepEqual(problemsOf('service.data.inline-types=a/b'), [
    'service.data.inline-types is "a/b", but it is a numbered list: write service.data.inline-types.1',
  ])
})

test('a list is numbered 1, 2, 3 and not otherwise', () => {
  for (const number of ['0', '01', 'x', '-1', '', '1e0', '<n>', '9999999']) {
    const problems = problemsOf(`service.data.inline-types.${number}=a/b`)
    assert.equal(problems.length, 1, number)
    assert.match(problems[0] ?? '', /numbered 1, 2, 3/)
  }
})

test('a key that is written twice stops the start and names both lines', () => {
  assert.deepEqual(problemsOf('service.http.port=1\n\nservice.http.port=1'), [
    'service.http.port is set twice, in lines 1 and 3 of test.properties',
  ])
  assert.deepEqual(problemsOf('', 'service.http.port=1', 'service.http.port=2'), [
    'service.http.port is set twice by --set',
  ])
})

test('a key without a value stops the start', () => {
  const [problem] = problemsOf('service.http.port')
  assert.match(problem ?? '', /^service\.http\.port is "": a value is missing/)
})

test('a malformed escape stops the start and names the file and the line', () => {
  const text = '# \\\\u is no escape\nservice.auth.adminpw=\\u12'
  assert.match(problemsOf(text)[0] ?? '', /^test\.properties has a malformed \\u escape in line 2/)
})

const textsOf = (warnings: readonly Finding[]): string[] => warnings.map(({ text }) => text)

test('an unknown key is warned about with the nearest known one, without its value (D10.3)', () => {
  const { warnings, unknown } = load(
    'service.auth.adminpwd=hunter2\nservice.data.inline-type.1=a/b\nservise.http.port=1\nother=1\nservice.foo.bar.baz=1',
  )
  assert.deepEqual(textsOf(warnings), [
    'service.auth.adminpwd is not a known key; did you mean service.auth.adminpw?',
    'service.data.inline-type.1 is not a known key; did you mean service.data.inline-types.1?',
    'servise.http.port is not a known key; did you mean service.http.port?',
    'other is not a known key',
    'service.foo.bar.baz is not a known key',
  ])
  assert.equal(unknown.length, 5)
})

test('each of many unknown keys is warned about, and the first ten with the nearest known one (D10.3)', () => {
  const keys = Array.from({ length: 300 }, (_, index) => `service.http.prt${String.fromCodePoint(0x4e00 + index)}`)
  const texts = textsOf(load(keys.map(key => `${key}=1`).join('\n')).warnings)
  assert.equal(texts.length, 300)
  assert.equal(texts.filter(text => text.endsWith('; did you mean service.http.port?')).length, 10)
})

test('keys that name members of every object are unknown keys like others', () => {
  const { settings, unknown } = load('__proto__=1\nconstructor=2\n__proto__.polluted=3\ntoString=4', 'hasOwnProperty=5')
  assert.equal(unknown.length, 5)
  assert.equal(Object.getPrototypeOf(settings), Object.prototype)
  assert.equal('polluted' in settings, false)
})

test('no secret is in a problem or a warning (D10.6)', () => {
  const hidden = 'Hunter2'.repeat(400)
  const messages = [
    ...problemsOf(`service.auth.adminpw=${hidden}`),
    ...problemsOf('service.auth.adminpw=Hunter2\nservice.auth.adminpw=Hunter2'),
    ...problemsOf('', 'service.auth.adminpw:Hunter2'),
    ...problemsOf('service.baseurl.folder=https://me:Hunter2@h.example/'),
    ...problemsOf('service.cluster.redis.url=redis://:Hunter2@h', 'service.repository.store.url=mysql://Hunter2@h'),
    ...problemsOf('service.smtp.password=Hunter2'),
    ...problemsOf('service.baseurl.folder=https://me:x/Hunter2@h.example/'),
    ...problemsOf('service.repository.store.url=postgres://me:12/Hunter2@h/db'),
    ...problemsOf('service.backup.encrypt-to.1=AGE-SECRET-KEY-1HUNTER2', 'service.http.port=AGE-SECRET-KEY-1Hunter2'),
    ...problemsOf('service.backup.keep=-----BEGIN PRIVATE KEY-----Hunter2'),
    ...load('service.auth.adminpw=Hunter2').warnings.map(warning => JSON.stringify(warning)),
  ]
  assert.equal(messages.length, 13)
  for (const message of messages) assert.doesNotMatch(message, /Hunter2/i)
})

test('a value with line breaks does not make a second line of message, and a long one is shortened', () => {
  const problems = problemsOf('service.http.port=1\\n2', `service.data.max-file-size=${'9'.repeat(5000)}`)
  assert.equal(problems.length, 2)
  assert.ok(problems.every(line => line.length < 300))
})

test('a dangerous switch is warned about at start (D5.6)', () => {
  const warnings = textsOf(load('service.auth.adminpw=adminadmin\nservice.auth.cookie.httponly=off').warnings)
  assert.ok(warnings.includes('service.auth.adminpw overrides the stored password of admin'))
  assert.ok(warnings.some(warning => warning.startsWith('service.auth.cookie.httponly is off')))
  assert.deepEqual(load('service.auth.cookie.httponly=on').warnings, [])
})

test('settings of identity providers are maps that hold the defaults of every name', () => {
  const { settings, report } = read(
    'service.auth.saml.idps.1=one',
    'service.auth.saml.idps.2=two',
    'service.auth.saml.idp.one.relying-party-id=stowage',
    'service.auth.saml.idp.one.domains.1=Example.com',
    'service.auth.saml.idp.two.metadata.max-age=60',
    'service.auth.saml.idp.__proto__.redirect-method=POST',
  )
  assert.deepEqual(report.problems, [])
  assert.deepEqual(
    [...withSignOn(settings)['service.auth.saml.idp.<idp>.metadata.max-age']],
    [
      ['one', 604_800],
      ['two', 60],
      ['__proto__', 604_800],
    ],
  )
  assert.equal(withSignOn(settings)['service.auth.saml.idp.<idp>.relying-party-id'].get('one'), 'stowage')
  assert.equal(withSignOn(settings)['service.auth.saml.idp.<idp>.relying-party-id'].get('two'), undefined)
  assert.equal(withSignOn(settings)['service.auth.saml.idp.<idp>.redirect-method'].get('__proto__'), 'post')
  assert.deepEqual(withSignOn(settings)['service.auth.saml.idp.<idp>.domains.<n>'].get('one'), ['example.com'])
  assert.deepEqual(withSignOn(settings)['service.auth.saml.idp.<idp>.domains.<n>'].get('two'), [])
})

test('a gap in the list of one identity provider is not filled by another', () => {
  const { report } = read(
    'service.auth.saml.idp.one.domains.1=a.example',
    'service.auth.saml.idp.two.domains.2=b.example',
  )
  assert.deepEqual(report.problems, [
    'service.auth.saml.idp.two.domains.1 is missing, but service.auth.saml.idp.two.domains.2 is "b.example"',
  ])
})

test('no file makes the loader throw anything but a StartupError', () => {
  const line = fc
    .tuple(fc.constantFrom(...Object.keys(keys), 'x', '__proto__'), fc.string())
    .map(pair => pair.join('='))
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(line).map(lines => lines.join('\n')),
      ),
      text => void problemsOf(text),
    ),
  )
})

test('a setting comes from the variable with its key in capitals, which wins over the file and loses to --set (D10.1)', () => {
  const environment = {
    SERVICE_HTTP_PORT: '1000',
    SERVICE_AUTH_COOKIE_MAX_AGE: '60',
    SERVICE_HTTP_HOST: '',
    PATH: '/bin',
    SERVICE_CONFIG: 'x',
  }
  const file = { path: 'x', text: 'service.http.port=2000\nservice.auth.cookie.max-age=1\nservice.http.host=::1' }
  const { settings, origins, warnings } = loadSettings({ file, environment, overrides: ['service.http.port=3000'] })
  assert.equal(settings['service.http.port'], 3000)
  assert.equal(settings['service.auth.cookie.max-age'], 60)
  assert.equal(settings['service.http.host'], '::1')
  assert.equal(origins.get('service.auth.cookie.max-age'), 'environment')
  assert.deepEqual(warnings, [])
})

test('variables reach lists, identity providers of every source, and under the key itself names of any spelling', () => {
  const { settings, warnings } = loadSettings({
    file: { path: 'x', text: 'service.auth.oidc=on\nservice.auth.oidc.idps.1=my-campus' },
    environment: {
      SERVICE_AUTH_OIDC_IDPS_2: 'Other',
      SERVICE_AUTH_OIDC_IDP_MY_CAMPUS_ISSUER: 'https://one.example',
      SERVICE_AUTH_OIDC_IDP_MY_CAMPUS_CLIENT_ID: 'one',
      SERVICE_AUTH_OIDC_IDP_MY_CAMPUS_DOMAINS_1: 'one.example',
      SERVICE_AUTH_OIDC_IDP_OTHER_ISSUER: 'https://two.example',
      SERVICE_AUTH_OIDC_IDP_OTHER_CLIENT_ID: 'two',
      SERVICE_AUTH_OIDC_IDP_OTHER_DOMAINS_1: 'two.example',
      'service.auth.oidc.idp.Other.required.memberOf': 'staff',
      SERVICE_HTTP_TRUSTED_PROXIES_1: '10.0.0.1',
    },
    overrides: ['service.baseurl.folder=https://store.example/'],
  })
  assert.deepEqual([...withSignOn(settings)['service.auth.oidc.idp.<idp>.issuer'].keys()], ['my-campus', 'Other'])
  assert.deepEqual(withSignOn(settings)['service.auth.oidc.idp.<idp>.domains.<n>'].get('my-campus'), ['one.example'])
  assert.deepEqual(
    [...(withSignOn(settings)['service.auth.oidc.idp.<idp>.required.<claim>'].get('Other')?.keys() ?? [])],
    ['memberOf'],
  )
  assert.deepEqual(settings['service.http.trusted-proxies.<n>'], ['10.0.0.1/32'])
  assert.deepEqual(warnings, [])
})

test('a variable that looks like a setting and is none is named in a warning, without its value', () => {
  const { warnings } = loadSettings({ environment: { SERVICE_HTTP_PROT: 'hunter2' }, overrides: [] })
  assert.deepEqual(textsOf(warnings), [
    'SERVICE_HTTP_PROT is not the variable of a known setting; did you mean SERVICE_HTTP_PORT?',
  ])
})

test('no two settings have the same variable', () => {
  const names = Object.keys(keys).flatMap(key => [variableOf(key), variableOf(`${key}-file`)])
  assert.equal(new Set(names).size, names.length)
})

test('a secret comes from a file, also by a variable; of two sources the stronger wins, and of one both are refused', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'token')
  await writeFile(path, 'from-a-file\r\n')
  const token = (sources: Parameters<typeof loadSettings>[0]): [unknown, unknown] => {
    const { settings, origins } = loadSettings(sources)
    return [
      (settings as unknown as Record<string, unknown>)['service.metrics.token'],
      origins.get('service.metrics.token'),
    ]
  }
  const file = { path: 'x', text: 'service.metrics.token=in-the-settings' }
  const environment = { SERVICE_METRICS_TOKEN_FILE: path }
  assert.deepEqual(token({ overrides: [`service.metrics.token-file=${path}`] }), ['from-a-file', 'secret file'])
  assert.deepEqual(token({ file, environment, overrides: [] }), ['from-a-file', 'secret file'])
  assert.deepEqual(token({ file, environment, overrides: ['service.metrics.token=typed-in-here'] }), [
    'typed-in-here',
    '--set',
  ])
  assert.match(
    problemsOf(`service.metrics.token=a\nservice.metrics.token-file=${path}`).join(),
    /both set: leave one of them out/,
  )
  assert.match(
    problemsOf('service.metrics.token-file=/nowhere/token').join(),
    /names \/nowhere\/token, but that file cannot be read/,
  )
  const mail = problemsOf('service.smtp.username=store\nservice.smtp.password-file=/nowhere/password')
  assert.equal(mail.length, 1, 'nothing that follows from the unreadable file')
  await writeFile(path, '\n')
  assert.match(problemsOf(`service.metrics.token-file=${path}`).join(), /but that file is empty/)
})
