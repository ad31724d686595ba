import { CLIENT, ISSUER, type KeyName, NOW, pemOf } from './exchange.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

export interface LogoutCase {
  readonly title: string
  readonly header: Record<string, unknown>
  readonly claims: Record<string, unknown>
  readonly key: KeyName | Buffer
}

const honest = {
  iss: ISSUER,
  aud: CLIENT,
  iat: NOW,
  exp: NOW + 120,
  jti: 'once',
  sub: 'subject-1',
  sid: 'session-1',
  events: { [EVENT]: {} },
}

const logout = (
  title: string,
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
  key: KeyName | Buffer = 'rsa',
): LogoutCase => ({
  title,
  claims: { ...honest, ...claims },
  header: { alg: 'RS256', kid: 'rsa', typ: 'logout+jwt', ...header },
  key,
})

export const logoutAttacks: ReadonlyArray<LogoutCase & { readonly check: string }> = [
  { ...logout('an ID token', { events: undefined, nonce: 'n' }), check: 'logout-events' },
  ...[undefined, null, {}, [], EVENT, { [EVENT]: true }, { [EVENT]: null }, { 'https://evil.example': {} }].map(
    events => ({
      ...logout(`events are ${JSON.stringify(events) ?? 'missing'}`, { events }),
      check: 'logout-events',
    }),
  ),
  ...['n', '', null].map(nonce => ({
    ...logout(`a nonce ${JSON.stringify(nonce)}`, { nonce }),
    check: 'logout-nonce',
  })),
  ...[undefined, '', null].map(jti => ({
    ...logout(`jti is ${JSON.stringify(jti) ?? 'missing'}`, { jti }),
    check: 'logout-jti',
  })),
  { ...logout('neither sub nor sid', { sub: undefined, sid: undefined }), check: 'logout-subject' },
  { ...logout('an empty sub and no sid', { sub: '', sid: undefined }), check: 'logout-subject' },
  ...['', 7, null].map(sid => ({ ...logout(`sid is ${JSON.stringify(sid)}`, { sid }), check: 'logout-sid' })),
  { ...logout('the audience of another client', { aud: 'other' }), check: 'token-aud' },
  { ...logout('no audience', { aud: undefined }), check: 'token-aud' },
  { ...logout('another issuer', { iss: 'https://evil.example' }), check: 'token-iss' },
  { ...logout('over', { exp: NOW - 61 }), check: 'token-exp' },
  { ...logout('issued tomorrow', { iat: NOW + 86_400 }), check: 'token-iat' },
  { ...logout('no time of issue', { iat: undefined }), check: 'token-iat' },
  { ...logout('without an end, issued an hour ago', { exp: undefined, iat: NOW - 3600 }), check: 'logout-iat' },
  { ...logout('another key', {}, {}, 'other'), check: 'token-signature' },
  { ...logout('an unknown key', {}, { kid: 'other' }, 'other'), check: 'token-key' },
  { ...logout('algorithm none', {}, { alg: 'none' }), check: 'token-algorithm' },
  { ...logout('HS256 with the public key', {}, { alg: 'HS256' }, Buffer.from(pemOf('rsa'))), check: 'token-algorithm' },
]

export const honestLogouts: readonly LogoutCase[] = [
  logout('sub and sid', {}),
  logout('only sid', { sub: undefined }),
  logout('only sub', { sid: undefined }),
  logout('without an end', { exp: undefined }),
  logout('several audiences', { aud: [CLIENT, 'other'] }),
  logout('no type in the header', {}, { typ: undefined }),
  logout('another member of events', { events: { [EVENT]: {}, 'https://op.example/more': {} } }),
]
