import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Certified {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/**
 * A self-signed certificate for 127.0.0.1 and content.example, generated so that the repository contains no
 * private key.
 */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: certificateOf(pair),
  }
}

/** The certificate of an RSA or elliptic key, by itself, PEM. @param expires four digits of a year @param named whether it names somebody */
export function certificateOf({ publicKey, privateKey }: Certified, expires = '2099', named = true): string {
  const algorithm =
    publicKey.asymmetricKeyType === 'rsa'
      ? sequence(der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05, Buffer.alloc(0)))
      : sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
  const commonName = sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('127.0.0.1')))
  const name = sequence(...(named ? [der(0x31, commonName)] : []))
  const validity = sequence(der(0x18, Buffer.from('20200101000000Z')), der(0x18, Buffer.from(`${expires}1231235959Z`)))
  const names = sequence(der(0x87, Buffer.from([127, 0, 0, 1])), der(0x82, Buffer.from('content.example')))
  const alternativeName = sequence(der(0x06, Buffer.from('551d11', 'hex')), der(0x04, names))
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeName)),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const certificate = sequence(toBeSigned, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const lines = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts))

/** Tag, length, content (X.690). */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const lengthBytes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content])
}
