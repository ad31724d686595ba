import { RE2JS } from 're2js'
import { SsoRefused } from '../refusal.ts'
import { showClaim } from './token.ts'

export type Claims = Readonly<Record<string, unknown>>

export interface ClaimRules {
  /** The claim that becomes the name of a user. */
  readonly nameClaim: string
  /** Whether an e-mail address counts without `email_verified`. */
  readonly trustsUnverifiedEmail: boolean
  /** For each claim a pattern; at least one value of the claim must match it as a whole. */
  readonly required: ReadonlyMap<string, string>
}

const MAX_VALUES = 1_000

/**
 * The values of a claim as texts. Numbers and booleans are included, objects are not. If no claim has the
 * name, dots in it separate the members of a path: `realm_access.roles`.
 */
export function valuesOf(claims: Claims, name: string): readonly string[] {
  const value = valueAt(claims, name)
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all
    .slice(0, MAX_VALUES)
    .filter(one => typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
    .map(String)
}

function valueAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, part))
      return undefined
    value = (value as Claims)[part]
  }
  return value
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
    throw new SsoRefused({ check: 'name-claim', expected: `the claim ${nameClaim}`, received: showClaim(value) })
  }
  const { email, email_verified: verified } = claims
  // Some providers send the string "true" instead of the boolean.
  const isVerified = value === email && (verified === true || verified === 'true')
  // A value without @ is a user name at the provider, because the operator has chosen the claim.
  const isAddress = nameClaim === 'email' || value.includes('@')
  return { name: value, nameIsUnverified: isAddress && !isVerified && !trustsUnverifiedEmail }
}

/** @throws {SsoRefused} `required-claim` */
export function requireValues(claims: Claims, { required }: ClaimRules): void {
  for (const [claim, pattern] of required) {
    const values = valuesOf(claims, claim)
    const compiled = RE2JS.compile(pattern)
    if (values.some(value => compiled.matches(value))) continue
    const received = values.length === 0 ? 'none' : values.join(', ')
    throw new SsoRefused({ check: 'required-claim', expected: `${claim}: ${pattern}`, received })
  }
}

/**
 * Whether a claim that this service needs is missing from the ID token, so that the userinfo endpoint must be
 * asked.
 */
export function lacksClaims(claims: Claims, { nameClaim, trustsUnverifiedEmail, required }: ClaimRules): boolean {
  const needed = [nameClaim, ...required.keys()]
  if (!trustsUnverifiedEmail && nameClaim === 'email') needed.push('email_verified')
  return needed.some(name => valueAt(claims, name) === undefined)
}
