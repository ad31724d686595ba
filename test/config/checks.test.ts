import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findContradictions } from '../../src/config/checks.ts'
import { read } from './parsing.ts'

function check(...lines: string[]): { problems: readonly string[]; warnings: readonly string[] } {
  const { settings, origins, report } = read(...lines)
  assert.deepEqual(report.problems, [])
  findContradictions(settings, origins, report)
  return { problems: report.problems, warnings: report.warnings.map(({ text }) => text) }
}

/** The one problem of these settings. */
function problemOf(...lines: string[]): string {
  const { problems } = check(...lines)
  assert.equal(problems.length, 1, problems.join('\n'))
  return problems[0] ?? ''
}

/** The one warning of these settings, which have no problem. */
function warningOf(...lines: string[]): string {
  const { problems, warnings } = check(...lines)
  assert.deepEqual(problems, [])
  assert.equal(warnings.length, 1, warnings.join('\n'))
  return warnings[0] ?? ''
}

const saml = [
  'service.auth.saml=new',
  'service.auth.saml.assertion-consumer-service.url=https://h.example/store/auth/saml',
  'service.auth.saml.idps.1=one',
  'service.auth.saml.idp.one.relying-party-id=stowage',
  'service.auth.saml.idp.one.metadata.url=https://idp.example/metadata',
]

test('the defaults contradict nothing', () => {
  const { problems, warnings } = check()
  assert.deepEqual([...problems, ...warnings], [])
})

test('a contradiction names its keys and their values', () => {
  assert.equal(
    warningOf('service.data.quota.default=1g'),
    'a default quota is set, but quota is off (service.data.quota=off, service.data.quota.default=1g)',
  )
})

test('all contradictions are reported at once', () => {
  const { problems } = check('service.auth.password=whitelist', 'service.auth.cas=on', 'service.smtp.username=me')
  assert.equal(problems.length, 3)
})

test('a setting that could not be read is not looked at again', () => {
  const { settings, origins, report } = read('service.data.quota=of', 'service.data.quota.default=1g')
  findContradictions(settings, origins, report)
  assert.deepEqual(report.warnings, [])
  assert.equal(report.problems.length, 1)
})

test('a lockout has a duration above 0, or attempts of -1 (D6.4)', () => {
  assert.match(problemOf('service.auth.temp.lockout.duration=0'), /service\.auth\.temp\.lockout\.duration=0/)
  assert.deepEqual(
    check('service.auth.temp.lockout.duration=0', 'service.auth.temp.lockout.max.attempts=-1').problems,
    [],
  )
})

test('a whitelist in force is not empty, and one not in force is warned about', () => {
  assert.match(problemOf('service.auth.password=whitelist'), /whitelist is empty/)
  assert.match(warningOf('service.auth.password.whitelist.1=donald'), /used only with/)
  assert.deepEqual(check('service.auth.password=whitelist', 'service.auth.password.whitelist.1=donald').warnings, [])
})

test('a configuration with which no user can sign in causes a warning', () => {
  assert.match(warningOf('service.auth.password=off'), /no user can sign in/)
  assert.deepEqual(check('service.auth.password=off', ...saml).warnings, [])
})

test('a Secure cookie and a base address of plain http are warned about, but not on this host', () => {
  assert.match(warningOf('service.baseurl.folder=http://h.example/'), /only over https/)
  for (const base of ['https://h.example', 'http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1/']) {
    assert.deepEqual(check(`service.baseurl.folder=${base}`).warnings, [])
  }
})

test('SameSite=None is always Secure, with a warning (D2.8)', () => {
  assert.match(warningOf('service.auth.cookie.samesite=none', 'service.auth.cookie.secure=off'), /Secure nevertheless/)
})

test('a cookie without Secure under a base address of https is warned about', () => {
  assert.match(
    warningOf('service.baseurl.folder=https://h.example/', 'service.auth.cookie.secure=off'),
    /plain http too/,
  )
})

test('a cookie path outside of the base address is warned about', () => {
  const base = 'service.baseurl.folder=https://h.example/store/'
  for (const path of ['auto', '/', '/store', '/store/']) {
    assert.deepEqual(check(base, `service.auth.cookie.path=${path}`).warnings, [], path)
  }
  for (const path of ['/other', '/sto', '/store/auth']) {
    assert.match(warningOf(base, `service.auth.cookie.path=${path}`), /outside the path/)
  }
})

test('a cookie path that would begin another attribute is refused', () => {
  const { report } = read('service.auth.cookie.path=/; Domain=evil.example')
  assert.equal(report.problems.length, 1)
})

test('a max age above the cap is warned about', () => {
  assert.match(warningOf('service.auth.token.absolute-max-age=3600'), /before their max age/)
  assert.deepEqual(check('service.auth.token.absolute-max-age=-1').warnings, [])
  assert.deepEqual(check('service.auth.cookie.max-age=-1').warnings, [])
  assert.deepEqual(check('service.auth.cookie.max-age=5184000').warnings, [], 'it raises the default of the cap')
  for (const login of ['cookie', 'saml', 'oidc', 'cas']) {
    const lines = [`service.auth.${login}.max-age=90000`, 'service.auth.token.absolute-max-age=88000']
    assert.ok(
      check(...lines).warnings.some(text => /before their max age/.test(text)),
      login,
    )
  }
})

test('listening for others without a base address is warned about', () => {
  const proxy = 'service.http.trusted-proxies.1=127.0.0.1/32'
  assert.match(warningOf('service.http.host=0.0.0.0', proxy), /service\.baseurl\.folder is not set/)
  assert.deepEqual(check('service.http.host=0.0.0.0', 'service.baseurl.folder=https://h.example', proxy).warnings, [])
})

test('listening for others without a trusted proxy is warned about', () => {
  const base = 'service.baseurl.folder=https://h.example'
  assert.match(warningOf('service.http.host=0.0.0.0', base), /no reverse proxy is trusted/)
  assert.match(warningOf('service.http.host=192.0.2.1', base), /no reverse proxy is trusted/)
  for (const host of ['127.0.0.1', '::1', 'localhost']) {
    assert.deepEqual(check(`service.http.host=${host}`, base).warnings, [], host)
  }
})

test('trusting every peer is warned about', () => {
  assert.match(warningOf('service.http.trusted-proxies.1=::/0'), /every peer is a trusted proxy/)
})

test('password reset needs a mail server and a sender', () => {
  assert.match(
    problemOf('service.auth.password-reset=on', 'service.smtp.host=mail.example'),
    /mail server and a sender/,
  )
  const mail = ['service.smtp.host=mail.example', 'service.smtp.from=stowage@h.example']
  assert.deepEqual(check('service.auth.password-reset=on', ...mail).problems, [])
})

test('no secret is in a contradiction', () => {
  const problem = problemOf('service.smtp.password=Hunter2')
  assert.match(problem, /service\.smtp\.password=\*+/)
  assert.ok(!problem.includes('Hunter2'))
})

test('tokens in Redis need Redis; nodes that share Redis share logins; a key file is for tokens outside memory', () => {
  const redis = 'service.cluster.redis.url=redis://:Hunter2@127.0.0.1/'
  assert.match(problemOf('service.auth.token.store=redis'), /token\.store=redis.*redis\.url/)
  const problem = problemOf(redis)
  assert.match(problem, /token\.store=memory.*redis\.url/)
  assert.doesNotMatch(problem, /Hunter2/)
  for (const store of ['redis', 'database']) {
    const { problems, warnings } = check(redis, `service.auth.token.store=${store}`, 'service.auth.token.key-file=key')
    assert.deepEqual([...problems, ...warnings], [])
  }
  assert.match(check('service.auth.token.key-file=key').warnings.join(), /only for tokens outside memory/)
})

test('SAML with one identity provider is complete', () => {
  const { problems, warnings } = check(...saml)
  assert.deepEqual([...problems, ...warnings], [])
})

test('SAML misses what it needs', () => {
  assert.equal(check('service.auth.saml=new').problems.length, 2)
  assert.equal(check('service.auth.saml=on').problems.length, 3)
  assert.equal(check(...saml, 'service.auth.saml.idps.2=two').problems.length, 2)
})

test('an identity provider that is configured, or the default, is listed', () => {
  assert.match(problemOf(...saml, 'service.auth.saml.idp.two.domains.1=a.example'), /not listed/)
  assert.match(problemOf(...saml, 'service.auth.saml.default-idp=two'), /default identity provider is not listed/)
  assert.deepEqual(check(...saml, 'service.auth.saml.default-idp=one').problems, [])
})

test('a domain belongs to one identity provider (D8.4)', () => {
  const second = ['service.auth.saml.idps.2=two', 'service.auth.saml.idp.two.relying-party-id=stowage'].concat(
    'service.auth.saml.idp.two.metadata.url=file:///idp.xml',
  )
  const domains = ['service.auth.saml.idp.one.domains.1=a.example', 'service.auth.saml.idp.two.domains.1=A.Example']
  assert.match(problemOf(...saml, ...second, ...domains), /claimed twice/)
})

test('the assertion consumer service has the one path at which responses arrive (D19.14)', () => {
  const acs = 'service.auth.saml.assertion-consumer-service.url'
  const others = saml.filter(line => !line.startsWith(acs))
  const problemsOf = (...lines: string[]): readonly string[] => check(...others, ...lines).problems
  const refusal = /^responses arrive at <base address>auth\/saml only/
  assert.deepEqual(problemsOf(`${acs}=https://h.example/store/auth/saml`), [])
  assert.deepEqual(
    problemsOf('service.baseurl.folder=https://h.example/a/', `${acs}=https://h.example/a/auth/saml?x=1`),
    [],
  )
  for (const path of ['', 'auth/saml/', 'auth/saml/acs', 'a/auth/saml', 'store/auth/SAML', 'auth/cas'])
    assert.match(problemsOf(`${acs}=https://h.example/${path}`)[0] ?? '', refusal, path)
  const elsewhere = problemsOf('service.baseurl.folder=https://h.example/a/', `${acs}=https://h.example/b/auth/saml`)
  assert.match(elsewhere[0] ?? '', refusal)
  const host = ['service.baseurl.folder=https://h.example/', `${acs}=https://other.example/auth/saml`]
  assert.deepEqual(problemsOf(...host), [])
  assert.match(warningOf(...others, ...host), /the cookie of a login belongs to another host/)
})

test('identity providers that can sign in the users of each other are warned about (D19.14)', () => {
  const second = ['service.auth.saml.idps.2=b', 'service.auth.saml.idp.b.relying-party-id=s']
  const two = [...saml, ...second, 'service.auth.saml.idp.b.metadata.url=https://b.example/m']
  const warning = /each of several identity providers without domains/
  assert.match(check(...two).warnings.join(), warning)
  assert.doesNotMatch(check(...two, 'service.auth.saml.idp.b.domains.1=b.example').warnings.join(), warning)
  assert.doesNotMatch(check(...saml).warnings.join(), warning)
  const cas = ['service.auth.cas=on', 'service.auth.cas.server.url=https://cas.example/']
  assert.match(check(...saml, ...cas).warnings.join(), /the CAS server can sign in the users of every other provider/)
  const oidc = ['service.auth.oidc=on', 'service.auth.oidc.idps.1=o', 'service.auth.oidc.idp.o.client-id=s']
  const other = [
    ...oidc,
    'service.auth.oidc.idp.o.issuer=https://o.example/',
    'service.auth.oidc.idp.o.client-secret=x',
  ]
  assert.match(check(...saml, ...other).warnings.join(), warning)
  assert.doesNotMatch(check(...other).warnings.join(), warning)
  assert.doesNotMatch(check(...saml, ...other, 'service.auth.oidc.idp.o.domains.1=o.example').warnings.join(), warning)
  assert.match(check(...other, ...cas).warnings.join(), /the CAS server can/)
  assert.doesNotMatch(check(...cas).warnings.join(), /the CAS server can/)
})

test('metadata over http come from this host only (D8.6)', () => {
  const url = 'service.auth.saml.idp.one.metadata.url'
  assert.match(problemOf(...saml.slice(0, 4), `${url}=http://idp.example/`), /only from this host/)
  assert.deepEqual(check(...saml.slice(0, 4), `${url}=http://localhost:8081/`).problems, [])
})

test('CAS needs the address of its server, over https or on this host (D9.1)', () => {
  assert.match(problemOf('service.auth.cas=on'), /service\.auth\.cas=on needs service\.auth\.cas\.server\.url/)
  const url = 'service.auth.cas.server.url'
  assert.match(problemOf('service.auth.cas=on', `${url}=http://cas.example/cas`), /only on this host/)
  for (const server of ['https://cas.example/cas', 'http://127.0.0.1:8000/cas', 'http://localhost/cas']) {
    const { problems, warnings } = check('service.auth.cas=on', `${url}=${server}`)
    assert.deepEqual([...problems, ...warnings], [], server)
  }
})

test('the legacy SAML settings are warned about (D8.8)', () => {
  const legacy = ['service.auth.saml=on', saml[1] ?? '', 'service.auth.saml.relying-party-id=stowage']
  assert.match(warningOf(...legacy, 'service.auth.saml.idp-metadata.url=https://idp.example/'), /deprecated/)
})

test('each of the legacy SAML settings that has no effect is named, also with its default (D8.8, D10.1)', () => {
  const idle = {
    'relying-party-id': 'stowage',
    'idp-metadata.url': 'https://idp.example/',
    'idp-metadata.max-age': '604800',
    'user-auto-provisioning': 'off',
    'redirect-method': 'post',
    'max-age': '60',
  }
  for (const [name, value] of Object.entries(idle)) {
    const key = `service.auth.saml.${name}`
    for (const others of [saml, ['service.auth.saml=off']]) {
      const warning = warningOf(...others, `${key}=${value}`)
      assert.ok(warning.startsWith(`${key} is used only with service.auth.saml=on`), warning)
      assert.ok(warning.includes(`(${others[0] ?? ''}, ${key}=`), warning)
    }
  }
})

test('hosts of a proxy that is off are warned about', () => {
  for (const key of ['guest-hosts', 'private-hosts']) {
    const host = `service.proxy.${key}.1=example.org`
    assert.match(warningOf('service.proxy=off', host), /the proxy is off .*service\.proxy=off/)
    assert.deepEqual(check(host).warnings, [])
  }
})

const cas = ['service.auth.cas=on', 'service.auth.cas.version=cas3', 'service.auth.cas.server.url=https://c.example/']

test('groups of a provider need a prefix or an admin group, and these need the groups (D27.2)', () => {
  assert.match(problemOf(...cas, 'service.auth.cas.groups-attribute=memberOf'), /^groups of a provider need/)
  assert.match(problemOf(...cas, 'service.auth.cas.groups-prefix=sso-'), /need the attribute with the groups/)
  assert.match(problemOf(...cas, 'service.auth.cas.admin-group=admins'), /need the attribute with the groups/)
  assert.deepEqual(
    check(...cas, 'service.auth.cas.groups-attribute=memberOf', 'service.auth.cas.groups-prefix=sso-').problems,
    [],
  )
})

test('no prefix of groups begins with that of another provider; the same for several is warned about (D27.2)', () => {
  const groups = (samlPrefix: string, casPrefix: string): string[] => [
    ...saml,
    'service.auth.saml.idp.one.groups-attribute=isMemberOf',
    `service.auth.saml.idp.one.groups-prefix=${samlPrefix}`,
    ...cas,
    'service.auth.cas.groups-attribute=memberOf',
    `service.auth.cas.groups-prefix=${casPrefix}`,
  ]
  for (const [one, other] of [
    ['uni-', 'uni-lib-'],
    ['UNI-lib-', 'uni-'],
    ['\uFF55ni-', 'uni-x'],
  ] as const) {
    assert.match(problemOf(...groups(one, other)), /begins with that of another/)
  }
  const { problems, warnings } = check(...groups('uni-', 'UNI-'))
  assert.deepEqual(problems, [])
  assert.ok(warnings.some(text => text.startsWith('several providers have the same groups-prefix')))
  assert.deepEqual(check(...groups('uni-', 'lib-')).problems, [])
})

test('a value is mapped to a known target only, and CAS 1 has no values (D27.1, D27.4)', () => {
  assert.match(problemOf(...cas, 'service.auth.cas.map.fullname=cn'), /^a target of map is/)
  assert.match(problemOf(...cas, 'service.auth.cas.map.property.=cn'), /service\.auth\.cas\.map/)
  assert.deepEqual(
    check(...cas, 'service.auth.cas.map.property.phone.home=x', 'service.auth.cas.map.name=cn').problems,
    [],
  )
  assert.match(
    problemOf(...cas.with(1, 'service.auth.cas.version=cas1'), 'service.auth.cas.required.x=y'),
    /^CAS 1 has no/,
  )
})

const oidc = [
  'service.auth.oidc=on',
  'service.auth.oidc.idps.1=op',
  'service.auth.oidc.idp.op.issuer=https://op.example',
  'service.auth.oidc.idp.op.client-id=stowage',
]
const ofOp = (setting: string): string => `service.auth.oidc.idp.op.${setting}`

test('an OpenID Connect provider is reached by https, or by http on this host (D26.7)', () => {
  assert.deepEqual(check(...oidc).problems, [])
  for (const address of [
    'http://op.example',
    'http://127.0.0.1.op.example',
    'http://192.0.2.7',
    'http://[2001:db8::1]',
  ]) {
    assert.match(problemOf(...oidc.with(2, ofOp(`issuer=${address}`))), /over http is accepted only on this host/)
  }
  for (const address of ['http://localhost:8080/realm', 'http://127.0.0.1:1', 'http://[::1]:1']) {
    assert.deepEqual(check(...oidc.with(2, ofOp(`issuer=${address}`))).problems, [], address)
  }
})

test('an OpenID Connect provider has what it needs, and a name of its own (D26.1)', () => {
  assert.match(problemOf('service.auth.oidc=on'), /needs at least one identity provider/)
  assert.match(problemOf(...oidc.slice(0, 3)), /every identity provider needs its client-id/)
  assert.match(problemOf(...oidc, 'service.auth.oidc.default-idp=other'), /default identity provider is not listed/)
  assert.match(problemOf(...oidc, ...saml.map(line => line.replaceAll('one', 'op'))), /the name of another identity/)
})

test('the content origin is another host than the base address, https if that is, and has a key that all nodes know (D18.15)', () => {
  const base = 'service.baseurl.folder=https://store.example/store/'
  const content = (url: string): string => `service.content.base-url=${url}`
  const { problems, warnings } = check(base, content('https://usercontent.example/'))
  assert.deepEqual([...problems, ...warnings], [])
  assert.match(problemOf(base, content('https://store.example:8443/')), /another host name than the base address/)
  assert.match(problemOf(content('http://127.0.0.1:9090/')), /another host name than the base address/)
  assert.match(problemOf(base, content('http://localhost/')), /must be https as well/)
  const plain = ['service.baseurl.folder=http://store.example/', 'service.auth.cookie.secure=off']
  assert.match(warningOf(...plain, content('http://usercontent.example/')), /tickets can be read on the network/)
  const nodes = [
    base,
    content('https://usercontent.example/'),
    'service.repository.store.url=postgres://db.example/stowage',
  ]
  assert.match(problemOf(...nodes), /service\.auth\.token\.store must be redis or database/)
  assert.deepEqual(check(...nodes, 'service.auth.token.store=database').problems, [])
})

const fed = 'service.auth.saml.idp.one'
const federation = [...saml, `${fed}.federation=aggregate`, `${fed}.user-name-attribute=eduPersonPrincipalName`]
const signed = [...federation, `${fed}.metadata.certificate-file=/etc/signer.crt`]
const ownKey = ['service.auth.saml.signing.key-file=/k', 'service.auth.saml.signing.certificate-file=/c']

test('a federation needs the certificate of its metadata, and logins that begin here (D31)', () => {
  assert.deepEqual(check(...signed).problems, [])
  assert.match(problemOf(...federation), /needs the certificate that signs its metadata/)
  assert.match(problemOf(...signed, `${fed}.allow-unsolicited=on`), /a login must begin here in a federation/)
  assert.match(
    problemOf(...signed, `${fed}.discovery-url=http://ds.example/`),
    /over http is accepted only on this host/,
  )
  const byNameId = signed.filter(line => !line.includes('user-name-attribute'))
  assert.match(warningOf(...byNameId), /set user-name-attribute/)
  const queries = signed.map(line => line.replace('=aggregate', '=mdq'))
  assert.match(warningOf(...queries), /users find new providers only by a discovery-url/)
  assert.deepEqual(check(...queries, `${fed}.discovery-url=https://ds.example/`).warnings, [])
})

test('groups of a federation need the names of the providers that may state them (D31.5)', () => {
  const groups = [...signed, `${fed}.groups-attribute=isMemberOf`, `${fed}.groups-prefix=fed-`]
  for (const more of [[], [`${fed}.admin-group=admins`]])
    assert.match(problemOf(...groups, ...more), /could state all groups, also that of administrators/)
  const named = `${fed}.groups-entities.1=https://idp.example/shibboleth`
  assert.deepEqual(check(...groups, `${fed}.admin-group=admins`, named).problems, [])
  assert.match(problemOf(...saml, named), /only with federation=aggregate or mdq/)
})

test('settings of federations have no place at a single provider, but the certificate of its metadata has (D31)', () => {
  assert.deepEqual(check(...saml, `${fed}.metadata.certificate-file=/etc/signer.crt`).problems, [])
  for (const line of [
    `${fed}.discovery-url=https://ds.example/`,
    `${fed}.required-categories.1=https://refeds.org/sirtfi`,
  ]) {
    assert.match(problemOf(...saml, line), /only with federation=aggregate or mdq/, line)
  }
})

test('single logout needs a signing key, in a federation too, and also where an attribute has the user name (D31.6)', () => {
  for (const lines of [saml, signed, [...saml, `${fed}.user-name-attribute=mail`]]) {
    assert.match(problemOf(...lines, `${fed}.single-logout=on`), /single logout needs a signing key/)
    assert.deepEqual(check(...lines, ...ownKey, `${fed}.single-logout=on`).problems, [])
  }
})

test('backups have a place apart from the uploaded files', () => {
  const backups = (target: string) => ['service.backup.schedule=@daily', `service.backup.target=${target}`]
  for (const [store, target] of [
    ['s3://one/blobs', 's3://one'],
    ['s3://one', 's3://one'],
    ['s3://one', 's3://one/backups'],
  ] as const) {
    assert.match(problemOf(`service.data.store=${store}`, ...backups(target)), /in one place would be lost together/)
  }
  assert.deepEqual(check('service.data.store=s3://one/files', ...backups('s3://one/backups')).problems, [])
  assert.deepEqual(check(...backups('/folder/backups')).problems, [])
  const elsewhere = 'service.backup.s3.endpoint=https://other.example'
  assert.deepEqual(check('service.data.store=s3://one', ...backups('s3://one'), elsewhere).problems, [])
})

test('sslmode=prefer and allow warn, because nothing is verified (D20.11)', () => {
  const at = (mode: string): string =>
    `service.repository.store.url=postgres://me:pw@db.example/stowage?sslmode=${mode}`
  for (const mode of ['prefer', 'allow']) {
    const warning = warningOf(at(mode))
    assert.match(warning, /use verify-full/)
    assert.doesNotMatch(warning, /pw/)
  }
  assert.deepEqual(check(at('verify-full')).warnings, [])
})
