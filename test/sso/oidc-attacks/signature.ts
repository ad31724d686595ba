import { attack, type Attack, type Exchange, jwkOf, type KeyName, pemOf, published, sign } from './exchange.ts'

const hmac = (title: string, alg: string, key: Buffer, kid = 'rsa'): Attack =>
  attack(`${alg} with ${title}`, 'token-algorithm', exchange => {
    exchange.header = { alg, kid }
    exchange.key = key
  })

const parts = (token: string): [string, string, string] => token.split('.') as [string, string, string]

const header = (title: string, check: string, more: Record<string, unknown>, key: KeyName = 'other'): Attack =>
  attack(`the header has ${title}, signed with another key`, check, exchange => {
    exchange.header = { ...exchange.header, ...more }
    exchange.key = key
  })

const token = (title: string, check: string, change: (token: string) => string): Attack =>
  attack(title, check, exchange => {
    exchange.token = change
  })

const flip = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const evil = (exchange: Exchange): Record<string, unknown> => ({ ...exchange.claims, sub: 'victim' })

export const algorithmAttacks: readonly Attack[] = [
  ...['none', 'None', 'NONE', 'nOnE'].map(alg =>
    attack(`algorithm ${alg}, without signature`, 'token-algorithm', exchange => {
      exchange.header = { alg }
      exchange.token = signed => `${parts(signed)[0]}.${parts(signed)[1]}.`
    }),
  ),
  attack('algorithm none, with the signature left', 'token-algorithm', exchange => {
    exchange.token = signed => `${encode({ alg: 'none', kid: 'rsa' })}.${parts(signed)[1]}.${parts(signed)[2]}`
  }),
  ...['HS256', 'HS384', 'HS512'].flatMap(alg => [
    hmac('the public key (PEM)', alg, Buffer.from(pemOf('rsa'))),
    hmac('the public key (PEM, without line break)', alg, Buffer.from(pemOf('rsa').trim())),
    hmac('the modulus', alg, Buffer.from(String(jwkOf('rsa')['n']), 'base64url')),
    hmac('the client secret', alg, Buffer.from('a secret of the client')),
    hmac('an empty key', alg, Buffer.alloc(0)),
    hmac('a symmetric key of the key set', alg, Buffer.from('a symmetric key'), 'oct'),
  ]),
  ...[undefined, null, '', 0, ['RS256'], { alg: 'RS256' }].map(alg =>
    attack(`algorithm is ${JSON.stringify(alg) ?? 'missing'}`, 'token-form', exchange => {
      exchange.header = { ...exchange.header, alg }
    }),
  ),
  ...['RS1', 'rs256', 'RSA-OAEP', 'dir', 'ES256K', 'RS256 '].map(alg =>
    attack(`algorithm is ${JSON.stringify(alg)}`, 'token-algorithm', exchange => {
      exchange.header = { ...exchange.header, alg }
    }),
  ),
]

export const signatureAttacks: readonly Attack[] = [
  token('no signature', 'token-signature', signed => `${parts(signed)[0]}.${parts(signed)[1]}.`),
  token('half a signature', 'token-signature', signed => signed.slice(0, -170)),
  token('a longer signature', 'token-signature', signed => `${signed}AAAA`),
  ...[0, 40, 300].map(at =>
    token(`a signature with another character at ${at}`, 'token-signature', signed => {
      const [head, payload, signature] = parts(signed)
      return `${head}.${payload}.${flip(signature, at)}`
    }),
  ),
  attack('the claims changed after signing', 'token-signature', exchange => {
    exchange.token = signed => `${parts(signed)[0]}.${encode(evil(exchange))}.${parts(signed)[2]}`
  }),
  attack('the header changed after signing', 'token-signature', exchange => {
    exchange.token = signed =>
      `${encode({ ...exchange.header, typ: 'at+jwt' })}.${parts(signed)[1]}.${parts(signed)[2]}`
  }),
  attack('the signature of another token', 'token-signature', exchange => {
    exchange.token = signed => {
      const [, , signature] = parts(sign(exchange.header, evil(exchange), 'rsa'))
      return `${parts(signed)[0]}.${parts(signed)[1]}.${signature}`
    }
  }),
  header('the kid of a good key', 'token-signature', {}),
  header('no kid', 'token-signature', { kid: undefined }),
  header('the key itself (jwk)', 'token-signature', { jwk: jwkOf('other') }),
  header('the key itself and its kid', 'token-key', { jwk: jwkOf('other'), kid: 'other' }),
  header('an address of a key set (jku)', 'token-signature', { jku: 'https://evil.example/jwks' }),
  header('a certificate (x5c)', 'token-signature', { x5c: [Buffer.from(pemOf('other')).toString('base64')] }),
  header('an address of a certificate (x5u)', 'token-signature', { x5u: 'https://evil.example/cert' }),
  header('a thumbprint (x5t)', 'token-signature', { x5t: 'AAAA', 'x5t#S256': 'AAAA' }),
  ...[
    '../../../dev/null',
    "rsa' OR '1'='1",
    'rsa\u0000',
    'RSA',
    '',
    '__proto__',
    'https://evil.example/key',
    'rsa,other',
  ].map(kid => header(`the kid ${JSON.stringify(kid)}`, 'token-key', { kid })),
  ...[7, ['rsa'], { kid: 'rsa' }, true].map(kid => header(`the kid ${JSON.stringify(kid)}`, 'token-key', { kid })),
  attack('a key that is meant for encryption', 'token-key', exchange => {
    exchange.header['kid'] = 'encryption'
    exchange.key = 'encryption'
  }),
  attack('an RSA key of 1024 bits', 'token-key', exchange => {
    exchange.header['kid'] = 'weak'
    exchange.key = 'weak'
  }),
  attack('an algorithm that the key is not for', 'token-key', exchange => {
    exchange.jwks = published.map(key => ('kid' in key && key.kid === 'rsa' ? { ...key, alg: 'RS512' } : key))
  }),
  attack('the curve of another algorithm', 'token-key', exchange => {
    exchange.header = { alg: 'ES256', kid: 'p384' }
    exchange.key = 'p384'
  }),
  attack('an EC algorithm with an RSA key', 'token-key', exchange => {
    exchange.header = { alg: 'ES256', kid: 'rsa' }
  }),
  attack('an ECDSA signature of zeros', 'token-signature', exchange => {
    exchange.header = { alg: 'ES256', kid: 'p256' }
    exchange.key = 'p256'
    exchange.token = signed => `${parts(signed)[0]}.${parts(signed)[1]}.${Buffer.alloc(64).toString('base64url')}`
  }),
  attack('an ECDSA signature of the wrong length', 'token-signature', exchange => {
    exchange.header = { alg: 'ES256', kid: 'p256' }
    exchange.key = 'p256'
    exchange.token = signed => `${parts(signed)[0]}.${parts(signed)[1]}.${Buffer.alloc(70, 1).toString('base64url')}`
  }),
  attack('an algorithm that the provider does not use', 'token-algorithm', exchange => {
    exchange.server = { algorithms: ['ES256'] }
  }),
  attack('a critical header that is not known', 'token-form', exchange => {
    exchange.header = { ...exchange.header, crit: ['exp'], exp: 1 }
  }),
  attack('an unencoded payload', 'token-form', exchange => {
    exchange.header = { ...exchange.header, crit: ['b64'], b64: false }
  }),
]

export const formAttacks: readonly Attack[] = [
  token('five parts, as if encrypted', 'token-form', signed => `${signed}.AAAA.BBBB`),
  token('four parts', 'token-form', signed => `${signed}.AAAA`),
  token('two parts', 'token-form', signed => parts(signed).slice(0, 2).join('.')),
  token('one part', 'token-form', () => 'AAAA'),
  token('the JSON serialisation', 'token-form', signed => {
    const [head, payload, signature] = parts(signed)
    return JSON.stringify({ protected: head, payload, signature })
  }),
  token('a header that is no JSON', 'token-form', signed => `AAAA.${parts(signed)[1]}.${parts(signed)[2]}`),
  token('claims that are no JSON', 'token-signature', signed => `${parts(signed)[0]}.AAAA.${parts(signed)[2]}`),
  token('a header that is a list', 'token-form', signed => `${encode([])}.${parts(signed)[1]}.${parts(signed)[2]}`),
  token('claims that are a list', 'token-signature', signed => `${parts(signed)[0]}.${encode([])}.${parts(signed)[2]}`),
  token('claims that are null', 'token-signature', signed => `${parts(signed)[0]}.${encode(null)}.${parts(signed)[2]}`),
  token('characters that are no base64url', 'token-signature', signed => `${parts(signed)[0]}.!!!.${parts(signed)[2]}`),
  attack('more than 200,000 characters', 'token-size', exchange => {
    exchange.claims['filler'] = 'x'.repeat(200_000)
  }),
]
