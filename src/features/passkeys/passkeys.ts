import { parseStored } from '../../base/json.ts'
import { createHash } from 'node:crypto'
import type {
  GenerateAuthenticationOptionsOpts,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import { Conflict, InvalidInput } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Database } from '../../stores/database.ts'
import type { EphemeralStore } from '../../stores/ephemeral-store.ts'
import type { Audit } from '../../accounts/audit.ts'
import type { Client } from '../../accounts/sessions.ts'
import type { User } from '../../accounts/users.ts'
import { countPasskeyUse, type Factor, factorsOf, findByCredential, type NewFactor } from '../factors/factor-rows.ts'
import { CHALLENGE_TTL, type ChallengePurpose, PasskeyChallenges } from './passkey-challenges.ts'
import {
  ALGORITHMS,
  type AssertionResponse,
  challengeOf,
  isCredentialId,
  type Passkey,
  readAssertion,
  type RegistrationResponse,
  type RelyingParty,
  verifyAssertion,
  verifyRegistration,
} from './passkey-verification.ts'

interface Dependencies {
  readonly database: Database
  readonly ephemeral: EphemeralStore
  readonly audit: Audit
  readonly system: System
}

export interface PasskeyOptions {
  readonly relyingParty: RelyingParty
  /** The base address; user handles are derived from it. */
  readonly base: string
}

/** The user and the purpose for which a response is verified. */
interface PasskeyUse {
  readonly userId: string
  /** {@link SIGN_IN}, or the session or pending login that requested the options. */
  readonly bound: string
  readonly client: Client
}

/** In place of a session or pending login: the passkey is the only factor. */
export const SIGN_IN = 'sign-in'

/** A key that belongs to no user. Its private half was never stored. */
const NOBODYS_KEY =
  'pQECAyYgASFYIOrkNyYP_u7xHIss_q3MGufdU7Nw-WKYA_i971pW01TaIlggem92fK3fpjWJ2Ws9CQA_1c_q3EebGPfKy5PV0U04lm4'

/** Passkeys of users (WebAuthn): registered, verified after a password, and verified instead of one (D29). */
export class Passkeys {
  readonly #deps: Dependencies
  readonly #options: PasskeyOptions
  readonly #challenges: PasskeyChallenges

  constructor(deps: Dependencies, options: PasskeyOptions) {
    this.#deps = deps
    this.#options = options
    this.#challenges = new PasskeyChallenges(deps.ephemeral, deps.system)
  }

  /** What a browser needs to create a passkey for the user. @param bound the session that asks */
  async creationOptions(user: User, bound: string): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { relyingParty } = this.#options
    const challenge = await this.#challenges.issue({ kind: 'register', userId: user.id, boundTo: bound })
    const { generateRegistrationOptions } = await import('@simplewebauthn/server')
    const name = user.name ?? user.id
    return await generateRegistrationOptions({
      rpID: relyingParty.id,
      rpName: relyingParty.name,
      userID: new Uint8Array(Buffer.from(userHandleOf(this.#options.base, user.id), 'base64url')),
      userName: name,
      userDisplayName: name,
      challenge,
      timeout: CHALLENGE_TTL,
      // Nobody is kept out for the make of their device.
      attestationType: 'none',
      // No second passkey on the same authenticator: it would replace the first one there.
      excludeCredentials: await this.#descriptors(user.id),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      supportedAlgorithmIDs: [...ALGORITHMS],
    })
  }

  /**
   * Verifies the response to {@link creationOptions}. `SecondFactors.add` stores the passkey.
   * @throws {InvalidInput} `invalid-passkey` whatever is wrong @throws {Conflict} if any user has this passkey
   */
  async finishRegistration(
    user: User,
    name: string,
    response: RegistrationResponse,
    bound: string,
  ): Promise<NewFactor> {
    const challenge = await this.#validChallenge(response, { kind: 'register', userId: user.id, boundTo: bound })
    if (challenge === undefined) throw refused()
    const passkey = await verifyRegistration(this.#options.relyingParty, response, challenge, false)
    if (!passkey || !(await this.#challenges.use(challenge))) throw refused()
    if (await this.#find(passkey.credentialId)) {
      throw new Conflict('conflict', 'This passkey is registered already.')
    }
    const { credentialId, publicKey, counter, transports, isSyncable } = passkey
    return {
      kind: 'passkey',
      name,
      secret: publicKey,
      credentialId,
      counter,
      userHandle: userHandleOf(this.#options.base, user.id),
      transports: JSON.stringify(transports),
      isSyncable,
    }
  }

  /** What a browser needs to use a passkey of this user. @param bound the session or pending login that asks */
  async requestOptions({ id }: User, bound: string): Promise<PublicKeyCredentialRequestOptionsJSON> {
    return await this.#requestOptions(purposeOf(id, bound), {
      userVerification: 'preferred',
      allowCredentials: await this.#descriptors(id),
    })
  }

  /** What a browser needs to use any passkey that it has for this service; the user is asked to choose. */
  async signInOptions(): Promise<PublicKeyCredentialRequestOptionsJSON> {
    return await this.#requestOptions({ kind: 'sign-in' }, { userVerification: 'required' })
  }

  /**
   * The id of the user whose passkey a response names. Nothing is verified but the challenge. For a passkey that nobody has,
   * a signature is verified nevertheless, so that the response time does not tell the difference.
   */
  async ownerOf(sent: unknown): Promise<string | undefined> {
    const answer = await this.#read(sent, { kind: 'sign-in' })
    if (!answer) return undefined
    const { response, challenge } = answer
    const factor = await this.#find(response.id)
    if (factor) return factor.userId
    const nobody = { credentialId: response.id, publicKey: NOBODYS_KEY, isSyncable: false }
    await verifyAssertion(this.#options.relyingParty, response, challenge, nobody, true)
    return undefined
  }

  /** Verifies a response and records the use. Each one is accepted once. @returns `undefined` whatever is wrong */
  async verify(
    sent: unknown,
    { userId, bound, client }: PasskeyUse,
  ): Promise<{ readonly factorId: string } | undefined> {
    const isSignIn = bound === SIGN_IN
    const answer = await this.#read(sent, purposeOf(userId, bound))
    if (!answer) return undefined
    const { response, challenge } = answer
    const factor = await this.#find(response.id)
    if (factor?.userId !== userId) return undefined
    const { userHandle } = response.response
    // Without a name, the passkey itself must say whose it is.
    const statesUser = userHandle !== undefined && userHandle !== null && userHandle !== ''
    if (statesUser ? userHandle !== factor.userHandle : isSignIn) return undefined
    const assertion = await verifyAssertion(
      this.#options.relyingParty,
      response,
      challenge,
      passkeyOf(factor),
      isSignIn,
    )
    if (!assertion || !(await this.#challenges.use(challenge))) return undefined
    const { database, system } = this.#deps
    const use = { counter: assertion.counter, now: system.now() }
    if (await countPasskeyUse(database, factor.id, use)) return { factorId: factor.id }
    // Two devices count with one key: one of them may be a copy (WebAuthn, 6.1.1).
    await this.#deps.audit.record({
      event: 'passkey-counter-mismatch',
      userId,
      address: client.address,
      detail: { factor: factor.id, stored: factor.counter, received: assertion.counter },
    })
    return undefined
  }

  async #requestOptions(
    purpose: ChallengePurpose,
    wishes: Pick<GenerateAuthenticationOptionsOpts, 'userVerification' | 'allowCredentials'>,
  ): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const challenge = await this.#challenges.issue(purpose)
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
    return await generateAuthenticationOptions({
      rpID: this.#options.relyingParty.id,
      challenge,
      timeout: CHALLENGE_TTL,
      ...wishes,
    })
  }

  /** The response, with the challenge that it answers; `undefined` if the input is no response, or answers no valid challenge. */
  async #read(
    sent: unknown,
    purpose: ChallengePurpose,
  ): Promise<{ readonly response: AssertionResponse; readonly challenge: string } | undefined> {
    const response = readAssertion(sent)
    if (!response) return undefined
    const challenge = await this.#validChallenge(response, purpose)
    return challenge === undefined ? undefined : { response, challenge }
  }

  async #validChallenge(
    response: RegistrationResponse | AssertionResponse,
    purpose: ChallengePurpose,
  ): Promise<string | undefined> {
    const challenge = challengeOf(response)
    return challenge !== undefined && (await this.#challenges.isValid(challenge, purpose)) ? challenge : undefined
  }

  async #find(credentialId: string): Promise<Factor | undefined> {
    return isCredentialId(credentialId) ? await findByCredential(this.#deps.database, credentialId) : undefined
  }

  async #descriptors(userId: string) {
    const factors = await factorsOf(this.#deps.database, userId)
    return factors
      .filter(({ kind }) => kind === 'passkey')
      .map(passkeyOf)
      .map(({ credentialId: id, transports }) => ({ id, transports: transports as never }))
  }
}

const refused = (): InvalidInput => new InvalidInput('invalid-passkey', 'The passkey was not accepted. Start again.')

/** The challenge of a sign-in without a name belongs to no user, even after the passkey has named one. */
const purposeOf = (userId: string, bound: string): ChallengePurpose =>
  bound === SIGN_IN ? { kind: 'sign-in' } : { kind: 'factor', userId, boundTo: bound }

/**
 * The identifier of a user for authenticators. It reveals nothing, and differs for services that share a host name, because an
 * authenticator keeps one passkey for each host name and user handle.
 */
export const userHandleOf = (base: string, userId: string): string =>
  createHash('sha256').update(`${base}\n${userId}`).digest('base64url')

const passkeyOf = (factor: Factor): Passkey => ({
  credentialId: factor.credentialId ?? '',
  publicKey: factor.secret,
  counter: factor.counter,
  transports: parseStored<string[]>(factor.transports ?? '[]'),
  isSyncable: factor.isSyncable === true,
})

const LOOPBACK = /(^|\.)localhost$/

/** Browsers offer passkeys for names, not for addresses, and only over https or on this machine. */
export function relyingPartyOf(base: string | undefined, name: string): RelyingParty | undefined {
  if (base === undefined) return undefined
  const { hostname, origin, protocol } = new URL(base)
  const isName = !/^\[|^[\d.]+$/.test(hostname)
  const isSecure = protocol === 'https:' || LOOPBACK.test(hostname)
  return isName && isSecure ? { id: hostname, origin, name } : undefined
}
