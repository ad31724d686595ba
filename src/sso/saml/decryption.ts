import { XMLSerializer } from '@xmldom/xmldom'
import { decrypt } from 'xml-encryption'
import { SsoRefused } from '../../base/errors.ts'
import { attributeOf, childrenNamed, descendantsNamed, messageLimits, parseXml, XmlRefused } from '../xml.ts'
import { SAML, XENC } from './names.ts'

const dataAlgorithms = new Set([
  'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
])
const keyAlgorithms = new Set([
  'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  'http://www.w3.org/2009/xmlenc11#rsa-oaep',
])

/** The text of the assertion inside an EncryptedAssertion. @param key PEM. @throws {SsoRefused} `decryption` */
export async function decryptAssertion(encrypted: Element, key: string | undefined): Promise<string> {
  if (key === undefined) throw refused('an assertion that is not encrypted: no decryption key is configured', undefined)
  if (childrenNamed(encrypted, XENC, 'EncryptedData').length !== 1) throw refused('one EncryptedData', undefined)
  const methods = descendantsNamed(encrypted, XENC, 'EncryptionMethod').map(
    method => attributeOf(method, 'Algorithm') ?? '',
  )
  const unknown = methods.find(method => !dataAlgorithms.has(method) && !keyAlgorithms.has(method))
  if (unknown !== undefined) throw refused([...dataAlgorithms, ...keyAlgorithms].join(' '), unknown)
  const text = await plainText(new XMLSerializer().serializeToString(encrypted), key)
  if (isAssertion(text)) return text
  // One refusal for whatever goes wrong after here: telling more would let somebody else's text be guessed byte by byte.
  throw refused('an encrypted assertion', undefined)
}

function plainText(xml: string, key: string): Promise<string> {
  return new Promise(resolve => {
    // The allow-list above has judged the algorithms; CBC is what real providers still send.
    const options = { key, disallowDecryptionWithInsecureAlgorithm: false, warnInsecureAlgorithm: false }
    decrypt(xml, options, (error: Error | null, text?: string) => resolve(error ? '' : (text ?? '')))
  })
}

function isAssertion(text: string): boolean {
  try {
    const { documentElement } = parseXml(text, messageLimits)
    return documentElement.namespaceURI === SAML && documentElement.localName === 'Assertion'
  } catch (error) {
    if (error instanceof XmlRefused) return false
    throw error
  }
}

const refused = (expected: string, received: string | undefined): SsoRefused =>
  new SsoRefused({ check: 'decryption', expected, received })
