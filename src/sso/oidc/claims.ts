import { type Attributes, valueAt } from '../attributes.ts'
import { normaliseName } from '../../accounts/users.ts'
import { refused } from '../refusal.ts'
import { showClaim } from './token.ts'

export type Claims = Attributes

export interface ClaimRules {
  /** The claim that becomes the name of a user. */
  readonly nameClaim: string
  /** Whether an e-mail address counts without `email_verified`. */
  readonly trustsUnverifiedEmail: boolean
  /** Further claims that this service reads. */
  readonly others: readonly string[]
}

/**
 * Merges the claims of the ID token and of the userinfo endpoint; the signed ones win. `email_verified`
 * belongs to the address beside it: that of userinfo says nothing about another address in the ID token.
 */
export function mergeClaims(idToken: Claims, userinfo: Claims): Claims {
  const merged: Record<string, unknown> = { ...userinfo, ...idToken }
  const isOtherEmail = idToken['email'] !== undefined && idToken['email'] !== userinfo['email']
  if (isOtherEmail && idToken['email_verified'] === undefined) delete merged['email_verified']
  return merged
}

/** The name of the user, and whether the provider has verified it. @throws {SsoRefused} `name-claim` */
export function readName(
  claims: Claims,
  { nameClaim, trustsUnverifiedEmail }: ClaimRules,
): { readonly name: string; readonly nameIsUnverified: boolean } {
  const value = valueAt(claims, nameClaim)
  if (typeof value !== 'string' || value === '') {
    throw refused('name-claim', `the claim ${nameClaim}`, showClaim(value))
  }
  const { email, email_verified: verified } = claims
  // Some providers send the string "true" instead of the boolean.
  const isVerified = value === email && (verified === true || verified === 'true')
  // A value without @ is a user name at the provider, because the operator has chosen the claim.
  const isAddress = nameClaim === 'email' || normaliseName(value).includes('@')
  return { name: value, nameIsUnverified: isAddress && !isVerified && !trustsUnverifiedEmail }
}

/** Whether a claim that this service reads is missing, so that the userinfo endpoint must be asked. */
export function lacksClaims(claims: Claims, { nameClaim, trustsUnverifiedEmail, others }: ClaimRules): boolean {
  const needed = [nameClaim, ...others]
  if (!trustsUnverifiedEmail && nameClaim === 'email') needed.push('email_verified')
  return needed.some(name => valueAt(claims, name) === undefined)
}
