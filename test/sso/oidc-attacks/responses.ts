import { attack, type Attack, type Exchange, ISSUER, jsonAnswer, NOW, signedUserinfo, STATE } from './exchange.ts'

const query = (title: string, check: string, change: (query: URLSearchParams) => void): Attack =>
  attack(`the redirect has ${title}`, check, exchange => change(exchange.query))

const body = (title: string, check: string, change: Record<string, unknown>): Attack =>
  attack(`the token response has ${title}`, check, exchange => {
    exchange.body = { ...exchange.body, ...change }
  })

const answer = (title: string, check: string, make: Exchange['answer']): Attack =>
  attack(`the token endpoint answers ${title}`, check, exchange => {
    exchange.answer = make
  })

const html = { status: 200, headers: { 'content-type': 'text/html' }, text: '<html>' }

/** Without `email_verified` in the ID token, userinfo is asked. */
const userinfo = (title: string, check: string, answered: Exchange['userinfo'], claims: object = {}): Attack =>
  attack(`userinfo has ${title}`, check, exchange => {
    Object.assign(exchange.claims, { email_verified: undefined }, claims)
    exchange.userinfo = answered
  })

const about = (claims: object): Exchange['userinfo'] =>
  jsonAnswer({ sub: 'subject-1', email: 'anna@example.org', ...claims })

export const responseAttacks: readonly Attack[] = [
  query('no state', 'response-state', query => query.delete('state')),
  query('the state of another login', 'response-state', query => query.set('state', 'another')),
  query('an empty state', 'response-state', query => query.set('state', '')),
  query('two states', 'oidc-response', query => query.append('state', STATE)),
  query('no issuer, although the provider names itself', 'response-iss', query => query.delete('iss')),
  query('another issuer (mix-up)', 'response-iss', query => query.set('iss', 'https://evil.example')),
  query('another spelling of the issuer', 'response-iss', query => query.set('iss', `${ISSUER}/`)),
  query('two issuers', 'oidc-response', query => query.append('iss', 'https://evil.example')),
  query('an error', 'authorization', query => query.set('error', 'access_denied')),
  query('an ID token', 'oidc-response', query => query.set('id_token', 'x.y.z')),
  query('a token', 'oidc-response', query => query.set('token', 'x')),
  query('a response in a token (JARM)', 'oidc-response', query => query.set('response', 'x.y.z')),
  query('no code', 'oidc-response', query => query.delete('code')),
  query('two codes', 'oidc-response', query => query.append('code', 'another')),
  body('no ID token', 'oidc-response', { id_token: undefined }),
  body('an ID token that is a number', 'oidc-response', { id_token: 7 }),
  body('an empty ID token', 'oidc-response', { id_token: '' }),
  body('no access token', 'oidc-response', { access_token: undefined }),
  body('an access token that is a list', 'oidc-response', { access_token: [] }),
  body('no type', 'oidc-response', { token_type: undefined }),
  body('an unknown type', 'oidc-response', { token_type: 'mac' }),
  body('an expiry that is no number', 'oidc-response', { expires_in: 'soon' }),
  answer('400 invalid_grant', 'token-endpoint', () => jsonAnswer({ error: 'invalid_grant' }, 400)),
  answer('401', 'token-endpoint', () => ({
    ...jsonAnswer({ error: 'invalid_client' }, 401),
    headers: { 'content-type': 'application/json', 'www-authenticate': 'Basic realm="x"' },
  })),
  answer('500', 'oidc-response', () => jsonAnswer({}, 500)),
  answer('a redirect', 'oidc-response', text => ({
    ...jsonAnswer(text, 302),
    headers: { location: 'https://evil.example' },
  })),
  answer('201', 'oidc-response', text => jsonAnswer(text, 201)),
  answer('a page', 'oidc-response', () => html),
  answer('nothing', 'oidc-response', () => jsonAnswer('')),
  answer('null', 'oidc-response', () => jsonAnswer('null')),
  answer('a list', 'oidc-response', text => jsonAnswer(`[${text}]`)),
  userinfo('another sub', 'oidc-response', about({ sub: 'victim', email_verified: true })),
  userinfo('no sub', 'oidc-response', jsonAnswer({ email: 'anna@example.org', email_verified: true })),
  userinfo('a sub that is a list', 'oidc-response', about({ sub: ['subject-1'], email_verified: true })),
  userinfo('a signature by a foreign key', 'token-signature', signedUserinfo({}, undefined, 'other')),
  userinfo(
    'a signature by a key that is not published',
    'token-key',
    signedUserinfo({}, { alg: 'RS256', kid: 'other' }, 'other'),
  ),
  userinfo('no signature', 'token-algorithm', signedUserinfo({}, { alg: 'none' }, Buffer.alloc(0))),
  userinfo(
    'a signature by the secret of the client',
    'token-algorithm',
    signedUserinfo({}, { alg: 'HS256' }, Buffer.from('a secret of the client')),
  ),
  userinfo('a token that was changed after signing', 'token-signature', {
    ...signedUserinfo({}),
    text: signedUserinfo({ sub: 'victim' }).text.replace(
      /^[^.]+\.[^.]+/,
      signedUserinfo({}).text.split('.', 2).join('.'),
    ),
  }),
  userinfo('a token of another issuer', 'token-iss', signedUserinfo({ iss: 'https://evil.example' })),
  userinfo('a token for another client', 'token-aud', signedUserinfo({ aud: 'other' })),
  userinfo('a token for several other clients', 'token-aud', signedUserinfo({ aud: ['a', 'b'] })),
  userinfo('a token for nobody', 'token-aud', signedUserinfo({ aud: [] })),
  userinfo('a token that is over', 'token-exp', signedUserinfo({ exp: NOW - 61 })),
  userinfo('a token of tomorrow', 'token-iat', signedUserinfo({ iat: NOW + 61 })),
  userinfo('a token about somebody else', 'oidc-response', signedUserinfo({ sub: 'victim' })),
  userinfo('a token about nobody', 'oidc-response', signedUserinfo({ sub: undefined })),
  userinfo('an encrypted token', 'token-form', { ...signedUserinfo({}), text: 'a.b.c.d.e' }),
  userinfo('a token that is JSON', 'token-form', { ...signedUserinfo({}), text: '{"sub":"subject-1"}' }),
  userinfo('a signed token with status 401', 'oidc-response', { ...signedUserinfo({}), status: 401 }),
  userinfo(
    'a token that takes long to read',
    'provider-unreachable',
    signedUserinfo({ groups: Array.from({ length: 30_000 }, () => 1) }),
  ),
  userinfo('a page', 'oidc-response', html),
  userinfo('status 401', 'oidc-response', jsonAnswer({}, 401)),
  userinfo('an unverified address', 'email-verified', about({ email_verified: false })),
  userinfo(
    'another address, which is verified',
    'email-verified',
    about({ email: 'own@evil.example', email_verified: true }),
  ),
  userinfo(
    'a verified address beside one of the ID token that is not',
    'email-verified',
    about({ email_verified: true }),
    {
      email_verified: false,
      email: undefined,
    },
  ),
]
