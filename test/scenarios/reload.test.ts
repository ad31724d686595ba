import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { addUser } from '../support/accounts.ts'
import { CasBrowser } from '../support/cas-browser.ts'
import { startFakeCas } from '../support/fake-cas.ts'
import { startFakeS3 } from '../support/fake-s3.ts'
import { ask } from '../support/http-client.ts'
import { selfSigned } from '../support/self-signed.ts'
import { ADMIN_PASSWORD, newContext, newEntry, newUser } from '../support/service.ts'
import { startReloadable } from '../support/settings-file.ts'
import { linkOf, startSmtpServer } from '../support/smtp-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'

test('SIGHUP puts the log level, lists of users and secrets in force, and names what it has applied', async t => {
  const service = await startReloadable(t, { 'service.log.level': 'info' })
  const admin = await service.admin()
  const bob = await newUser(service, admin)
  const secret = join(service.place, 'token')
  await writeFile(secret, 'first-metrics-token-1\n')
  const next = {
    'service.log.level': 'info',
    'service.auth.password.blacklist.1': bob.name,
    'service.metrics.token-file': secret,
  }
  const [outcome, ...others] = await service.reload(next)
  assert.deepEqual(outcome?.settings, ['service.auth.password.blacklist.<n>', 'service.metrics.token'])
  assert.equal(outcome?.level, 'info')
  assert.deepEqual(others, [])
  assert.equal((await service.visitor().signIn(bob.name, bob.password)).status, 401)
  assert.equal((await service.visitor().signIn('admin', ADMIN_PASSWORD)).status, 200)
  const metrics = async (token: string): Promise<number | undefined> =>
    (await ask(`${service.base}management/metrics`, { headers: { authorization: `Bearer ${token}` } })).status
  assert.equal(await metrics('first-metrics-token-1'), 200)

  // The settings stay the same, the secret in the file does not.
  await writeFile(secret, 'second-metrics-token-2\n')
  assert.deepEqual((await service.reload(next))[0]?.settings, ['service.metrics.token'])
  assert.equal(await metrics('first-metrics-token-1'), 401)
  assert.equal(await metrics('second-metrics-token-2'), 200)

  assert.equal((await service.reload(next))[0]?.msg, 'settings read again: nothing to apply')
  await service.reload({ 'service.log.level': 'debug', 'service.auth.password': 'off' })
  const closed = await service.visitor().signIn(bob.name, bob.password)
  assert.equal(closed.status, 403)
  assert.equal((await admin.get('auth/user')).json()['user'], 'admin', 'sessions go on')
  const shown = (await admin.get('management/settings')).text
  assert.match(shown, /"service\.log\.level","value":"debug"/)
  assert.doesNotMatch(service.output(), /metrics-token/)
  assert.equal(await service.stop(), 0)
})

test('settings that need a restart are named, and the others are applied', async t => {
  const service = await startReloadable(t, {})
  const lines = await service.reload({ 'service.trash.days': '7', 'service.log.slow': '0', 'service.jsonp': 'off' })
  assert.deepEqual(
    lines.map(({ level, settings }) => ({ level, settings: settings?.toSorted() })),
    [
      { level: 'warn', settings: ['service.jsonp', 'service.trash.days'] },
      { level: 'info', settings: ['service.log.slow'] },
    ],
  )
  const oidc = {
    'service.auth.oidc': 'on',
    'service.auth.oidc.idps.1': 'one',
    'service.auth.oidc.idp.one.issuer': 'http://127.0.0.1:1/',
    'service.auth.oidc.idp.one.client-id': 'stowage',
  }
  await service.reload({ ...oidc, 'service.auth.password': 'off' })
  await service.prints(/no user can sign in: passwords are off, and so are all protocols \(SAML, OpenID Connect, CAS\)/)
  // They are named again as long as they differ.
  assert.deepEqual((await service.reload({ 'service.trash.days': '7' }))[0]?.settings, ['service.trash.days'])
})

test('invalid settings change nothing, and one line says what is wrong', async t => {
  const service = await startReloadable(t, {})
  const bob = await newUser(service, await service.admin())
  const blacklist = { 'service.auth.password.blacklist.1': bob.name }
  const wrong = [
    [
      { ...blacklist, 'service.log.slow': 'slow', 'service.trash.days': 'x' },
      /^(?=.*service\.trash\.days)(?=.*service\.log\.slow).*; /,
    ],
    [{ ...blacklist, 'service.metrics.token-file': '/nowhere/token' }, /\/nowhere\/token/],
    [
      {
        ...blacklist,
        'service.cluster.redis.url': 'rediss://127.0.0.1:1/',
        'service.auth.token.store': 'redis',
        'service.cluster.redis.certificate-file': '/nowhere/certificate',
        'service.cluster.redis.key-file': '/nowhere/key',
      },
      /^Without a restart these settings contradict each other/,
    ],
  ] as const
  for (const [settings, reason] of wrong) {
    const lines = await service.reload(settings)
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [['error', 'the settings cannot be applied: all settings stay as they were']],
    )
    assert.match(lines[0]?.reason ?? '', reason)
    assert.equal((await service.visitor().signIn(bob.name, bob.password)).status, 200)
  }
  await service.reload(blacklist)
  assert.equal((await service.visitor().signIn(bob.name, bob.password)).status, 401)
})

test('a changed CAS server is used from then on, and a sign-on in progress ends well', async t => {
  const [old, other] = [await startFakeCas(t), await startFakeCas(t)]
  const settings = { 'service.auth.cas': 'on', 'service.auth.cas.user-auto-provisioning': 'on' }
  const service = await startReloadable(t, { ...settings, 'service.auth.cas.server.url': old.url })
  const begun = new CasBrowser(service.base)
  assert.equal((await begun.leave()).origin, new URL(old.url).origin)
  const [outcome] = await service.reload({ ...settings, 'service.auth.cas.server.url': other.url })
  assert.deepEqual(outcome?.settings, ['service.auth.cas.server.url'])
  // The server that gives the ticket is the new one: the flow is still known.
  assert.equal((await begun.step(`?ticket=${other.issue('anna')}`)).status, 200)
  assert.equal(await begun.whoAmI(), 'anna')
  const next = new CasBrowser(service.base)
  assert.equal((await next.signInBy(other, 'bert')).status, 200)
  assert.equal(old.asked.length, 0)
})

test('OpenID Connect and SAML providers are added, changed and removed; an unusable key changes none', async t => {
  const provider = (name: string) => ({
    [`service.auth.oidc.idp.${name}.issuer`]: `http://127.0.0.1:1/${name}`,
    [`service.auth.oidc.idp.${name}.client-id`]: 'stowage',
  })
  const place = { certificate: '', key: '' }
  const saml = () => ({
    'service.auth.saml': 'new',
    'service.auth.saml.assertion-consumer-service.url': 'http://127.0.0.1/auth/saml',
    'service.auth.saml.idps.1': 'campus',
    'service.auth.saml.idp.campus.relying-party-id': 'stowage',
    'service.auth.saml.idp.campus.metadata.url': 'http://127.0.0.1:1/metadata',
    ...(place.key
      ? {
          'service.auth.saml.signing.key-file': place.key,
          'service.auth.saml.signing.certificate-file': place.certificate,
        }
      : {}),
  })
  const first = { 'service.auth.oidc': 'on', 'service.auth.oidc.idps.1': 'one', ...provider('one') }
  const service = await startReloadable(t, { ...first, ...saml() })
  const admin = await service.admin()
  const names = async (): Promise<string[]> =>
    (await admin.get('management/sso')).json<{ oidc: Array<{ name: string }> }>().oidc.map(({ name }) => name)
  assert.deepEqual(await names(), ['one'])
  await service.reload({ ...first, 'service.auth.oidc.idps.2': 'two', ...provider('two'), ...saml() })
  assert.deepEqual(await names(), ['one', 'two'])
  await service.reload({ 'service.auth.oidc': 'on', 'service.auth.oidc.idps.1': 'two', ...provider('two'), ...saml() })
  assert.deepEqual(await names(), ['two'])
  assert.equal((await service.visitor().get('auth/oidc?idp=one')).status, 400)

  // A key that is replaced in its file, with the same settings.
  place.key = join(service.place, 'saml.key')
  place.certificate = join(service.place, 'saml.pem')
  const pairs = [selfSigned(), selfSigned()] as const
  const published = async (): Promise<string> => (await service.visitor().get('auth/saml/metadata?idp=campus')).text
  const bodyOf = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s/g, '')
  for (const { key, cert } of pairs) {
    await writeFile(place.key, key)
    await writeFile(place.certificate, cert)
    const [outcome] = await service.reload({ ...first, ...saml() })
    assert.ok(outcome?.settings?.includes('service.auth.saml.signing.certificate-file'), JSON.stringify(outcome))
    assert.ok((await published()).replaceAll(/\s/g, '').includes(bodyOf(cert)))
  }
  await writeFile(place.key, pairs[0].key)
  const [outcome] = await service.reload({ ...first, ...saml(), 'service.log.slow': '0' })
  assert.equal(outcome?.level, 'error')
  assert.match(outcome?.reason ?? '', /does not belong to the certificate/)
  assert.ok((await published()).replaceAll(/\s/g, '').includes(bodyOf(pairs[1].cert)))
  const shown = (await admin.get('management/settings')).text
  assert.match(shown, /"service\.log\.slow","value":"1s"/)
})

test('mails go on with the new password of the mail server', async t => {
  const user = { name: 'store', password: 'new-smtp-password-1' }
  const smtp = await startSmtpServer(t, { user })
  const settings = {
    'service.auth.password-reset': 'on',
    ...smtp.settings,
    'service.smtp.username': user.name,
  }
  const service = await startReloadable(t, { ...settings, 'service.smtp.password': 'old-smtp-password-1' })
  await addUser(await service.admin(), 'bob@example.org')
  const request = async (): Promise<void> => {
    assert.equal((await service.visitor().post('auth/pwreset', { email: 'bob@example.org' })).status, 202)
  }
  await request()
  await service.prints(/a mail could not be sent/)
  await service.reload({ ...settings, 'service.smtp.password': user.password })
  await request()
  assert.ok(linkOf(await smtp.take('bob@example.org')).token)
  assert.doesNotMatch(service.output(), /smtp-password/)
})

test('the store of files is asked with the credentials that its file now has, and refused ones change nothing', async t => {
  const s3 = await startFakeS3(t)
  const settings = { 'service.data.store': 's3://bucket' }
  const keys = new Set<string | undefined>()
  let valid = 'first-key'
  s3.intercept = ({ accessKey }) => {
    keys.add(accessKey)
    return accessKey === valid ? undefined : { status: 403, body: '' }
  }
  const file = join(await temporaryFolder(), 'credentials')
  const write = (id: string): Promise<void> =>
    writeFile(file, `[default]\naws_access_key_id = ${id}\naws_secret_access_key = secret-of-${id}\n`)
  await write('first-key')
  const service = await startReloadable(t, settings, {
    settings: { 'service.data.store': 's3://bucket' },
    env: {
      AWS_SHARED_CREDENTIALS_FILE: file,
      AWS_ENDPOINT_URL_S3: s3.url,
      AWS_ACCESS_KEY_ID: undefined,
      AWS_SECRET_ACCESS_KEY: undefined,
    },
  })
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, Buffer.from('one'))).status, 201)
  await write('wrong-key')
  const [refused] = await service.reload(settings)
  assert.equal(refused?.level, 'error')
  assert.match(refused?.reason ?? '', /the server refuses these credentials/)
  assert.equal((await admin.get(path)).text, 'one')

  await write('second-key')
  valid = 'second-key'
  const [outcome] = await service.reload(settings)
  assert.deepEqual(outcome?.settings, ['the credentials of S3'])
  keys.clear()
  assert.equal((await admin.get(path)).text, 'one')
  assert.equal((await putFile(admin, path, Buffer.from('two'))).status, 201)
  assert.deepEqual(keys, new Set(['second-key']))
})
