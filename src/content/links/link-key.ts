import { createHmac, timingSafeEqual } from 'node:crypto'
import { digestOf } from '../../accounts/tokens.ts'

/** 256 bits in base64url, in a secret as in a MAC. */
const LENGTH = 43

/** Whether a text has the form of a secret; others are not looked up. */
export const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

/**
 * What a visitor shows from the second request on: the secret, and a MAC by it of the stored password. Only a visitor who knew
 * the password, or has a key of one who did, has the right MAC, because the stored hash is secret. Nothing is stored for it, and it ends
 * with the link.
 */
export const keyOf = (secret: string, password: string | undefined): string => secret + macOf(secret, password)

/** The secret in a key; `undefined` if the text is no key. */
export const secretOf = (key: string): string | undefined =>
  key.length === 2 * LENGTH && isSecret(key.slice(0, LENGTH)) ? key.slice(0, LENGTH) : undefined

/** @param digest of the secret of the link @param password the stored hash of its password */
export function opensLink(key: string, digest: string, password: string | undefined): boolean {
  const secret = secretOf(key)
  return secret !== undefined && isSame(digestOf(secret), digest) && isSame(key, keyOf(secret, password))
}

const macOf = (secret: string, password = ''): string =>
  createHmac('sha256', secret).update(password).digest('base64url')

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
