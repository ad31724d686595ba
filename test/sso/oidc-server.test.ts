import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUsableKey, discoveryUrl, readKeys, readServer } from '../../src/features/oidc/server.ts'
import {
  type ClaimRules,
  lacksClaims,
  mergeClaims,
  readName,
  issuerOf,
  readLogoutToken,
} from '../../src/features/oidc/token.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { listen } from '../support/listener.ts'

const rsa = (characters: number, e = 'AQAB') => ({ kty: 'RSA', n: 'n'.repeat(characters), e })
const ALL = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

test('usable keys are RSA of 2048 to 8192 bits, three curves, and Ed25519, for signatures (D26.3)', () => {
  for (const key of [
    rsa(341),
    rsa(1368),
    rsa(342, 'x'.repeat(8)),
    { ...rsa(342), use: 'sig' },
    ...['P-256', 'P-384', 'P-521'].map(crv => ({ kty: 'EC', crv })),
    { kty: 'OKP', crv: 'Ed25519' },
    ...ALL.map(alg => ({ ...rsa(342), alg })),
  ])
    assert.ok(isUsableKey(key), JSON.stringify(key).slice(0, 60))
  for (const key of [
    rsa(340),
    rsa(1369),
    rsa(342, 'x'.repeat(9)),
    { kty: 'RSA', e: 'AQAB' },
    { kty: 'RSA', n: 'n'.repeat(342) },
    { ...rsa(342), use: 'enc' },
    { ...rsa(342), use: '' },
    ...['RS1', 'HS256', 'none', 'RSA-OAEP', ''].map(alg => ({ ...rsa(342), alg })),
    { kty: 'EC', crv: 'secp256k1' },
    { kty: 'EC', crv: 'Ed25519' },
    { kty: 'EC' },
    { kty: 'OKP', crv: 'X25519' },
    { kty: 'OKP', crv: 'P-256' },
    { kty: 'oct', crv: 'P-256' },
    { kty: 'oct', crv: 'Ed25519' },
  ])
    assert.ok(!isUsableKey(key), JSON.stringify(key).slice(0, 60))
})

const ISSUER = 'https://op.example'
const refusedServer = (message: string) => ({ name: 'ServerRefused', message })

test('keys are read from a key set: the first hundred that can be used (D26.3)', () => {
  const texts = readKeys(JSON.stringify({ keys: [null, 'x', { kty: 'oct' }, rsa(342), { ...rsa(342), use: 'enc' }] }))
  assert.deepEqual(texts, [JSON.stringify(rsa(342))])
  const many = Array.from({ length: 101 }, (_, at) => ({ ...rsa(342), kid: `${at}` }))
  assert.equal(readKeys(JSON.stringify({ keys: many })).length, 100)
  for (const [text, message] of [
    ['{"keys":{}}', 'the document has no list of keys'],
    ['{}', 'the document has no list of keys'],
    ['{"keys":[]}', 'none of the keys can be used: RSA from 2048 bits, EC or Ed25519'],
    ['[]', 'the document is not a JSON object'],
    ['null', 'the document is not a JSON object'],
    ['<html>', 'the document is not JSON'],
  ] as const)
    assert.throws(() => readKeys(text), refusedServer(message), text)
})

test('the configuration of an issuer is at its address, with or without a slash at the end', () => {
  assert.equal(discoveryUrl('https://op.example/a/'), 'https://op.example/a/.well-known/openid-configuration')
  assert.equal(discoveryUrl('https://op.example'), 'https://op.example/.well-known/openid-configuration')
  assert.equal(discoveryUrl('https://op.example/a/b'), 'https://op.example/a/b/.well-known/openid-configuration')
})

const JWKS = JSON.stringify({ keys: [rsa(342)] })
const documentOf = (jwks: string, issuer: string, changes: object = {}): string =>
  JSON.stringify({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: jwks,
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'ES256'],
    ...changes,
  })

test('a discovery document is read with its endpoints, algorithms and keys (D26.2)', async t => {
  const { origin } = await listen(t, (_, response) => response.end(JWKS))
  const server = (changes: object) => readServer(documentOf(`${origin}/jwks`, origin, changes), origin)
  const plainly = {
    entityId: origin,
    endpoints: {
      authorization: `${origin}/auth`,
      token: `${origin}/token`,
      jwks: `${origin}/jwks`,
      userinfo: undefined,
      endSession: undefined,
    },
    sendsIssuer: false,
    algorithms: ['RS256', 'ES256'],
    keys: [JSON.stringify(rsa(342))],
    certificates: [],
    clientAuth: 'basic',
  }
  assert.deepEqual(await server({}), plainly)
  const more = {
    userinfo_endpoint: `${origin}/me`,
    end_session_endpoint: 'https://op.example/end?x=1',
    authorization_response_iss_parameter_supported: true,
    id_token_signing_alg_values_supported: ALL,
  }
  assert.deepEqual(await server(more), {
    ...plainly,
    endpoints: { ...plainly.endpoints, userinfo: `${origin}/me`, endSession: 'https://op.example/end?x=1' },
    sendsIssuer: true,
    algorithms: ALL,
  })
  assert.deepEqual(
    await server({
      userinfo_endpoint: null,
      end_session_endpoint: null,
      authorization_response_iss_parameter_supported: 'true',
      id_token_signing_alg_values_supported: undefined,
    }),
    { ...plainly, algorithms: ['RS256'] },
  )
  for (const [offered, clientAuth] of [
    [['client_secret_post'], 'post'],
    [['private_key_jwt', 'client_secret_post'], 'post'],
    [['client_secret_post', 'client_secret_basic'], 'basic'],
    [['private_key_jwt'], 'basic'],
    ['client_secret_post', 'basic'],
  ] as const) {
    const { clientAuth: taken } = await server({ token_endpoint_auth_methods_supported: offered })
    assert.equal(taken, clientAuth, String(offered))
  }
  for (const url of ['http://elsewhere.example/auth', 'http://192.0.2.1/auth'])
    await assert.rejects(
      server({ authorization_endpoint: url }),
      refusedServer(`authorization_endpoint is "${url}", not an https address`),
    )
})

test('a discovery document of another issuer, with strange endpoints or algorithms is refused (D26.2)', async () => {
  const refused: ReadonlyArray<readonly [changes: object, message: string]> = [
    [{ issuer: `${ISSUER}/` }, `the issuer is "${ISSUER}/", not ${ISSUER}`],
    [{ issuer: undefined }, `the issuer is missing, not ${ISSUER}`],
    [{ issuer: 7 }, `the issuer is 7, not ${ISSUER}`],
    [{ token_endpoint: undefined }, 'token_endpoint is missing, not an https address'],
    [{ authorization_endpoint: '/auth' }, 'authorization_endpoint is "/auth", not an https address'],
    [{ jwks_uri: 7 }, 'jwks_uri is 7, not an https address'],
    [{ token_endpoint: 'http://op.example/t' }, 'token_endpoint is "http://op.example/t", not an https address'],
    [{ token_endpoint: 'file:///t' }, 'token_endpoint is "file:///t", not an https address'],
    [{ userinfo_endpoint: 'javascript:x' }, 'userinfo_endpoint is "javascript:x", not an https address'],
    [
      { end_session_endpoint: 'https://u@op.example/' },
      'end_session_endpoint is "https://u@op.example/", not an https address',
    ],
    [
      { end_session_endpoint: 'https://:p@op.example/' },
      'end_session_endpoint is "https://:p@op.example/", not an https address',
    ],
    [
      { id_token_signing_alg_values_supported: ['HS256', 7] },
      `it signs with "HS256", 7; accepted are ${ALL.join(', ')}`,
    ],
  ]
  for (const [changes, message] of refused) {
    await assert.rejects(
      readServer(documentOf(`${ISSUER}/jwks`, ISSUER, changes), ISSUER),
      refusedServer(message),
      JSON.stringify(changes),
    )
  }
})

const rules: ClaimRules = { nameClaim: 'email', trustsUnverifiedEmail: false, others: [] }

test('claims of the ID token win over those of userinfo, and a verification belongs to its address (D26.6)', () => {
  const userinfo = { sub: 'u', email: 'a@b', email_verified: true, groups: ['x'] }
  assert.deepEqual(mergeClaims({ sub: 'i' }, userinfo), { ...userinfo, sub: 'i' })
  assert.deepEqual(mergeClaims({ email: 'a@b' }, userinfo), userinfo)
  assert.deepEqual(mergeClaims({ email: 'c@d' }, userinfo), { sub: 'u', email: 'c@d', groups: ['x'] })
  assert.deepEqual(mergeClaims({ email: 'c@d', email_verified: true }, userinfo), { ...userinfo, email: 'c@d' })
  assert.deepEqual(mergeClaims({ email: 'c@d', email_verified: false }, userinfo), {
    ...userinfo,
    email: 'c@d',
    email_verified: false,
  })
})

test('userinfo is asked only for a claim that is needed and missing (D26.6)', () => {
  const lacks = (claims: object, changes: Partial<ClaimRules> = {}) =>
    lacksClaims({ ...claims }, { ...rules, ...changes })
  assert.ok(!lacks({ email: 'a@b', email_verified: false }))
  assert.ok(lacks({ email: 'a@b' }))
  assert.ok(lacks({ email_verified: true }))
  assert.ok(!lacks({ email: 'a@b' }, { trustsUnverifiedEmail: true }))
  assert.ok(!lacks({ upn: 'a' }, { nameClaim: 'upn' }))
  assert.ok(lacks({ upn: 'a' }, { nameClaim: 'upn', others: ['groups'] }))
  assert.ok(!lacks({ upn: 'a', groups: null }, { nameClaim: 'upn', others: ['groups'] }))
})

test('a name that is an address must be verified, another name need not be (D26.6)', () => {
  const read = (claims: object, changes: Partial<ClaimRules> = {}) => readName({ ...claims }, { ...rules, ...changes })
  for (const [claims, changes, isUnverified] of [
    [{ email: 'a@b', email_verified: true }, {}, false],
    [{ email: 'a@b', email_verified: 'true' }, {}, false],
    [{ email: 'a@b', email_verified: false }, {}, true],
    [{ email: 'a@b', email_verified: 1 }, {}, true],
    [{ email: 'a@b' }, {}, true],
    [{ email: 'a@b' }, { trustsUnverifiedEmail: true }, false],
    [{ email: 'anna' }, {}, true],
    [{ upn: 'anna' }, { nameClaim: 'upn' }, false],
    [{ upn: 'a@b' }, { nameClaim: 'upn' }, true],
    [{ upn: 'a@b', email: 'a@b', email_verified: true }, { nameClaim: 'upn' }, false],
    [{ upn: 'c@d', email: 'a@b', email_verified: true }, { nameClaim: 'upn' }, true],
  ] as const) {
    const { name, nameIsUnverified } = read(claims, changes)
    assert.equal(name, Object.values(claims)[0])
    assert.equal(nameIsUnverified, isUnverified, JSON.stringify(claims))
  }
  for (const [value, received] of [
    ['', '""'],
    [7, '7'],
    [undefined, 'none'],
  ] as const)
    assert.throws(() => read({ email: value }), {
      failed: { check: 'name-claim', expected: 'the claim email', received },
    })
})

const NOW = Date.UTC(2026, 10, 21, 10)
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const logoutToken = { events: { [EVENT]: {} }, jti: '1', sub: 's', iat: NOW / 1000 }

test('a logout token is remembered until its end and the tolerance are over (D26.5)', () => {
  const read = (changes: object) => readLogoutToken({ ...logoutToken, ...changes }, { now: NOW, clockSkew: 60_000 })
  assert.deepEqual(read({}), { sid: undefined, subject: 's', once: { id: '1', until: NOW + 660_000 } })
  assert.deepEqual(read({ exp: NOW / 1000 + 100 }).once, { id: '1', until: NOW + 160_000 })
  assert.deepEqual(read({ iat: NOW / 1000 - 659 }).once, { id: '1', until: NOW + 1000 })
  assert.throws(() => read({ iat: NOW / 1000 - 660 }), {
    failed: { check: 'logout-iat', expected: 'issued less than 10 minutes ago', received: `${NOW / 1000 - 660}` },
  })
  assert.throws(() => read({ iat: undefined }), SsoRefused)
  assert.throws(() => read({ exp: NOW / 1000 - 60 }), SsoRefused)
  assert.equal(read({ sid: 'x', sub: undefined }).sid, 'x')
})

test('the issuer and audiences of a token are read before it is verified', () => {
  const token = (claims: object) =>
    ['{"alg":"none"}', JSON.stringify(claims), ''].map(text => Buffer.from(text).toString('base64url')).join('.')
  assert.deepEqual(issuerOf(token({ iss: 'i', aud: 'a' })), { issuer: 'i', audiences: ['a'] })
  assert.deepEqual(issuerOf(token({ iss: 'i', aud: ['a', 'b'] })), { issuer: 'i', audiences: ['a', 'b'] })
  assert.equal(issuerOf('no token'), undefined)
})
