import { createHash } from 'node:crypto'
import {
  attack as variant,
  type Attack as Variant,
  CLIENT,
  type Exchange,
  ISSUER,
  jsonAnswer,
  jwkOf,
  type KeyName,
  NOW,
  published,
  signedUserinfo,
} from './exchange.ts'

const claim = (name: string, value: unknown, title = JSON.stringify(value) ?? 'missing'): Variant =>
  variant(`${name} is ${title}`, '', ({ claims }) => {
    claims[name] = value
  })

const algorithm = (alg: string, key: KeyName): Variant =>
  variant(`signed by ${alg}`, '', exchange => {
    exchange.header = { alg, kid: key }
    exchange.key = key
  })

const hashed = (alg: string, key: KeyName, bits: string): Variant =>
  variant(`at_hash by ${alg}`, '', exchange => {
    exchange.header = { alg, kid: key }
    exchange.key = key
    const digest = createHash(`sha${bits}`).update('an-access-token').digest()
    exchange.claims['at_hash'] = digest.subarray(0, digest.length / 2).toString('base64url')
  })

const header = (title: string, more: Record<string, unknown>): Variant =>
  variant(`the header has ${title}`, '', exchange => {
    exchange.header = { ...exchange.header, ...more }
  })

const rules = { nameClaim: 'email', trustsUnverifiedEmail: false, others: [] }
const userinfo = (title: string, answered: Exchange['userinfo'], claims: object): Variant =>
  variant(`userinfo ${title}`, '', exchange => {
    Object.assign(exchange.claims, claims)
    exchange.userinfo = answered
  })

/** Logins that must be accepted; what `check` names is not used. */
export const honestVariants: readonly Variant[] = [
  variant('as it is', '', () => {}),
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map(alg => algorithm(alg, 'rsa')),
  algorithm('ES256', 'p256'),
  algorithm('ES384', 'p384'),
  algorithm('ES512', 'p521'),
  algorithm('EdDSA', 'ed'),
  algorithm('Ed25519', 'ed'),
  hashed('RS256', 'rsa', '256'),
  hashed('ES384', 'p384', '384'),
  hashed('PS512', 'rsa', '512'),
  hashed('EdDSA', 'ed', '512'),
  header('no kid', { kid: undefined }),
  header('no type', { typ: undefined }),
  header('an unknown member', { 'x-more': 1 }),
  variant('two keys fit and no kid says which', '', exchange => {
    exchange.header['kid'] = undefined
    exchange.jwks = [jwkOf('other'), ...published]
  }),
  variant('the key has an algorithm', '', exchange => {
    exchange.jwks = [jwkOf('rsa', { alg: 'RS256', use: 'sig' })]
  }),
  variant('the key set has keys of unknown kinds', '', exchange => {
    exchange.jwks = [{ kty: 'AKP', kid: 'new' }, { kty: 'OKP', crv: 'X25519', x: 'AAAA' }, ...published]
  }),
  claim('aud', [CLIENT]),
  claim('aud', ['other', CLIENT], 'us and another, without azp'),
  variant('several audiences, and azp is us', '', ({ claims }) => {
    claims['aud'] = ['other', CLIENT]
    claims['azp'] = CLIENT
  }),
  claim('azp', CLIENT),
  claim('exp', NOW - 50, 'almost a minute ago, within the tolerance'),
  claim('exp', NOW + 300.5, 'a fraction'),
  claim('iat', NOW + 50, 'in almost a minute, within the tolerance'),
  claim('iat', NOW - 3000, 'some time ago'),
  claim('nbf', NOW),
  claim('nbf', NOW + 50, 'in almost a minute, within the tolerance'),
  claim('email_verified', 'true'),
  claim('sub', 's'.repeat(255), '255 characters long'),
  claim('sub', 'Ünïcode|7'),
  claim(
    'groups',
    Array.from({ length: 500 }, (_, at) => `group-${at}`),
    '500 groups',
  ),
  claim('address', { country: 'SE' }),
  claim('sid', 'a-session'),
  claim('acr', '0'),
  claim('amr', ['pwd', 'otp']),
  variant('no name of the issuer in the response of a provider that sends none', '', exchange => {
    exchange.query.delete('iss')
    exchange.server = { sendsIssuer: false }
  }),
  variant('the name of the issuer, although the provider does not announce it', '', exchange => {
    exchange.server = { sendsIssuer: false }
  }),
  variant('more parameters in the response', '', exchange => {
    exchange.query.set('session_state', 'x.y')
    exchange.query.set('scope', 'openid email')
  }),
  variant('a token type in lower case', '', exchange => {
    exchange.body['token_type'] = 'bearer'
  }),
  variant('a refresh token and a scope', '', exchange => {
    Object.assign(exchange.body, { refresh_token: 'r', scope: 'openid' })
  }),
  ...['refresh_token', 'scope', 'expires_in'].flatMap(name =>
    [null, ''].map(value =>
      variant(`${name} is ${JSON.stringify(value)} in the token response`, '', exchange => {
        exchange.body[name] = value
      }),
    ),
  ),
  variant('an expiry as text', '', exchange => {
    exchange.body['expires_in'] = '60'
  }),
  variant('JSON with a charset', '', exchange => {
    exchange.answer = text => ({ ...jsonAnswer(text), headers: { 'content-type': 'application/json; charset=utf-8' } })
  }),
  variant('JSON as plain text', '', exchange => {
    exchange.answer = text => ({ ...jsonAnswer(text), headers: { 'content-type': 'text/plain' } })
  }),
  variant('a public client', '', exchange => {
    exchange.options = { clientSecret: undefined }
  }),
  variant('one of the requested classes', '', exchange => {
    exchange.options = { acrValues: 'gold silver' }
    exchange.claims['acr'] = 'silver'
  }),
  variant('signed in recently enough', '', exchange => {
    exchange.options = { maxAuthenticationAge: 600 }
    exchange.claims['auth_time'] = NOW - 599
  }),
  variant('required values, one of several', '', exchange => {
    exchange.required = new Map([
      ['groups', 'st.*f'],
      ['iss', `${ISSUER}.*`],
    ])
    exchange.claims['groups'] = ['x', 'staff']
  }),
  variant('a required value at a path', '', exchange => {
    exchange.required = new Map([['realm_access.roles', 'editor']])
    exchange.claims['realm_access'] = { roles: ['editor'] }
  }),
  variant('a required value under a name with dots', '', exchange => {
    exchange.required = new Map([['https://op.example/role', 'editor']])
    exchange.claims['https://op.example/role'] = 'editor'
  }),
  variant('an unverified address that the operator trusts', '', exchange => {
    exchange.options = { rules: { ...rules, trustsUnverifiedEmail: true } }
    exchange.claims['email_verified'] = undefined
  }),
  variant('a plain name in another claim', '', exchange => {
    exchange.options = { rules: { ...rules, nameClaim: 'preferred_username' } }
    Object.assign(exchange.claims, { preferred_username: 'anna', email: undefined, email_verified: undefined })
  }),
  userinfo('has the address', jsonAnswer({ sub: 'subject-1', email: 'anna@example.org', email_verified: true }), {
    email: undefined,
    email_verified: undefined,
  }),
  ...Object.entries({
    'with all its claims': { iss: ISSUER, aud: CLIENT, iat: NOW, exp: NOW + 60 },
    'for several audiences': { aud: ['other', CLIENT] },
    'with no other claims': {},
  }).map(([title, more]) =>
    userinfo(`is signed, ${title}`, signedUserinfo(more), { email: undefined, email_verified: undefined }),
  ),
  userinfo('is signed by another algorithm, and names no key', signedUserinfo({}, { alg: 'ES384' }, 'p384'), {
    email_verified: undefined,
  }),
  userinfo(
    'has verified the address of the ID token',
    jsonAnswer({ sub: 'subject-1', email: 'anna@example.org', email_verified: true }),
    {
      email_verified: undefined,
    },
  ),
]
