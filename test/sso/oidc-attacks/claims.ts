import { createHash } from 'node:crypto'
import { attack, type Attack, CLIENT, ISSUER, NONCE, NOW, withClaim } from './exchange.ts'

const hash = (text: string, name = 'sha256'): string => {
  const digest = createHash(name).update(text).digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

const wrongTypes = [null, 7, true, {}, []]

const withOptions = (one: Attack, options: NonNullable<Parameters<Attack['change']>[0]['options']>): Attack => ({
  ...one,
  change: exchange => {
    exchange.options = options
    one.change(exchange)
  },
})

const timely = { maxAuthenticationAge: 600 }
const classy = { acrValues: 'gold silver' }

export const claimAttacks: readonly Attack[] = [
  ...[
    undefined,
    ...wrongTypes,
    '',
    'https://evil.example',
    `${ISSUER}/`,
    ISSUER.toUpperCase(),
    `${ISSUER}.evil.example`,
    [ISSUER],
  ].map(value => withClaim('iss', value, 'token-iss')),
  ...[undefined, ...wrongTypes].map(value => withClaim('sub', value, 'token-sub')),
  ...[
    undefined,
    null,
    7,
    {},
    [],
    '',
    'other',
    CLIENT.toUpperCase(),
    `${CLIENT} `,
    ['other'],
    [[CLIENT]],
    'stowage,other',
  ].map(value => withClaim('aud', value, 'token-aud')),
  withClaim('aud', ['another', 'other'], 'token-aud', 'two others, without azp'),
  ...['other', '', null, [CLIENT], 7].map(value => withClaim('azp', value, 'token-azp')),
  attack('aud is us and another, azp is the other', 'token-azp', ({ claims }) => {
    claims['aud'] = [CLIENT, 'other']
    claims['azp'] = 'other'
  }),
  ...[undefined, null, 'tomorrow', String(NOW + 300), {}, []].map(value => withClaim('exp', value, 'token-exp')),
  ...[NOW - 61, NOW - 3600, 0, -1].map(value => withClaim('exp', value, 'token-exp', `${value - NOW} s from now`)),
  ...[NOW + 62, NOW + 3600].map(value => withClaim('nbf', value, 'token-nbf', `${value - NOW} s from now`)),
  ...['now', {}, null].map(value => withClaim('nbf', value, 'token-nbf')),
  ...[undefined, null, 'now', {}].map(value => withClaim('iat', value, 'token-iat')),
  ...[NOW + 62, NOW + 86_400].map(value => withClaim('iat', value, 'token-iat', `${value - NOW} s from now`)),
  ...[undefined, ...wrongTypes, '', '_nonce-of-another-login', NONCE.toUpperCase(), `${NONCE} `, [NONCE]].map(value =>
    withClaim('nonce', value, 'token-nonce'),
  ),
  ...['', 7, hash('another-access-token'), hash('an-access-token', 'sha512')].map(value =>
    withClaim('at_hash', value, 'token-at_hash'),
  ),
  ...[undefined, NOW - 670, 'now', null].map(value =>
    withOptions(withClaim('auth_time', value, 'token-auth_time'), timely),
  ),
  ...[undefined, 'bronze', '', 'gold silver', ['gold'], 'GOLD', 7].map(value =>
    withOptions(withClaim('acr', value, 'token-acr'), classy),
  ),
]

const rules = { nameClaim: 'email', trustsUnverifiedEmail: false, others: [] }
const required = new Map([
  ['groups', 'staff|guest'],
  ['hd', 'example\\.org'],
])
const good = { hd: 'example.org', groups: ['staff'] }

export const userAttacks: readonly Attack[] = [
  ...[undefined, null, '', 7, ['anna@example.org'], { email: 'anna@example.org' }].map(value =>
    withClaim('email', value, 'name-claim'),
  ),
  ...[undefined, null, false, 'false', 'TRUE', 'yes', 1, {}, [true], ''].map(value =>
    withClaim('email_verified', value, 'email-verified'),
  ),
  attack('another claim is an address that nobody has verified', 'email-verified', exchange => {
    exchange.claims['preferred_username'] = 'victim@example.org'
    exchange.options = { rules: { ...rules, nameClaim: 'preferred_username' } }
  }),
  ...[undefined, [], ['students'], 'staff guest', ['staff\n'], ['xstaff'], ['staffx'], ['STAFF'], { staff: true }].map(
    groups =>
      attack(
        `groups are ${JSON.stringify(groups) ?? 'missing'} where staff or guest is required`,
        'required-claim',
        exchange => {
          Object.assign(exchange.claims, good, { groups })
          exchange.required = required
        },
      ),
  ),
  attack('one of two required claims is wrong', 'required-claim', exchange => {
    Object.assign(exchange.claims, good, { hd: 'example.org.evil.example' })
    exchange.required = required
  }),
]
