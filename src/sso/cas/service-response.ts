import { type Attributes, attributesOf } from '../attributes.ts'
import { SsoRefused } from '../refusal.ts'
import { attributeOf, childElements, childrenNamed, textOf, trimBlanks, type XmlElement } from '../xml-element.ts'
import type { CasUser } from './cas-user.ts'
import { onlyText } from './only-text.ts'

const CAS = 'http://www.yale.edu/tp/cas'

/**
 * Elements that may occur once in a reply. They are compared by local name, because another namespace makes
 * them no safer.
 */
const outcomes = new Set(['authenticationSuccess', 'authenticationFailure', 'proxySuccess', 'proxyFailure'])
const proxying = new Set(['proxies', 'proxy', 'proxyGrantingTicket'])

/**
 * CAS 2 and 3: a `serviceResponse` with exactly one outcome, and no second one anywhere around or inside it.
 * A server that fails to escape a value can be made to write elements (apereo/phpCAS#228).
 */
export function userInServiceResponse(root: XmlElement): CasUser {
  if (root.uri !== CAS || root.local !== 'serviceResponse') {
    throw refused(`a serviceResponse of ${CAS}`, `${root.local} of ${root.uri || 'no namespace'}`)
  }
  const [outcome, ...others] = childElements(root)
  if (!outcome || others.length > 0) throw refused('one outcome', `${childElements(root).length} elements`)
  const second = descendants(outcome).find(({ local }) => outcomes.has(local))
  if (second) throw refused('one outcome', `${second.local} inside ${outcome.local}`)
  if (outcome.uri !== CAS) throw refused(`an outcome of ${CAS}`, outcome.uri || 'no namespace')
  if (outcome.local === 'authenticationFailure') throw failureOf(outcome)
  if (outcome.local !== 'authenticationSuccess') throw refused('authenticationSuccess', outcome.local)
  requireNoProxy(outcome)
  return { name: onlyText('user', childrenNamed(outcome, CAS, 'user')), attributes: readAttributes(outcome) }
}

/**
 * The attributes of CAS 3, an element each: `<cas:attributes><cas:mail>…`. Servers with CAS 2 write them in the same way. Other styles,
 * and values with elements inside, are not read.
 */
function readAttributes(success: XmlElement): Attributes {
  const pairs: Array<readonly [string, string]> = []
  for (const element of childrenNamed(success, CAS, 'attributes').flatMap(childElements)) {
    const value = element.uri === CAS ? trimBlanks(textOf(element) ?? '') : ''
    if (value !== '') pairs.push([element.local, value])
  }
  return attributesOf(pairs)
}

/** D9.2. A proxy-granting ticket answers a wish that we never have. */
function requireNoProxy(success: XmlElement): void {
  const proxy = descendants(success).find(({ local }) => proxying.has(local))
  if (proxy) throw new SsoRefused({ check: 'cas-proxy', expected: 'a login without proxies', received: proxy.local })
}

function failureOf(failure: XmlElement): SsoRefused {
  const code = attributeOf(failure, 'code') ?? 'no code'
  const text = trimBlanks(failure.textContent)
  const received = text === '' ? code : `${code}: ${text}`
  return new SsoRefused({ check: 'cas-failure', expected: 'authenticationSuccess', received })
}

const descendants = (parent: XmlElement): XmlElement[] =>
  childElements(parent).flatMap(child => [child, ...descendants(child)])

const refused = (expected: string, received: string): SsoRefused =>
  new SsoRefused({ check: 'cas-reply', expected, received })
