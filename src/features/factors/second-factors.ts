import { Conflict, Forbidden, InvalidInput, NotFound } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type Database, type Queries, UniqueViolation } from '../../stores/database.ts'
import type { EphemeralStore } from '../../stores/ephemeral-store.ts'
import { type Audit, type AuditEntry, eventOf } from '../../accounts/audit.ts'
import { isAdmin } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import type { Login } from '../../accounts/login.ts'
import { unlessUnreachable, type Client, type Sessions } from '../../accounts/sessions.ts'
import { endOtherSessions, findUser, type User } from '../../accounts/users.ts'
import {
  advanceCounter,
  countRecoveryCodes,
  deleteFactor,
  type Factor,
  factorsOf,
  findFactor,
  insertFactor,
  type NewFactor,
  renameFactor,
  replaceRecoveryCodes,
  takeRecoveryCode,
} from './factor-rows.ts'
import type { SealedSecrets } from '../../accounts/sealed-secrets.ts'
import type { FactorAnswer, ProofKind } from '../../accounts/second-factor.ts'
import { base32, looksLikeCode, matchingStep, TOTP_SECRET_BYTES } from './totp.ts'
import { digestOf } from '../../accounts/tokens.ts'

/** Verifies passkeys; the feature that has them fills it in when it is opened. */
export interface PasskeyVerifier {
  readonly verify: (
    assertion: unknown,
    use: { readonly userId: string; readonly bound: string; readonly client: Client },
  ) => Promise<{ readonly factorId: string } | undefined>
}

interface Dependencies {
  readonly database: Database
  readonly ephemeral: EphemeralStore
  readonly secrets: SealedSecrets
  readonly login: Pick<Login, 'attemptFactor'>
  readonly sessions: Pick<Sessions, 'noteProof' | 'clearAway'>
  readonly audit: Audit
  readonly system: System
  readonly log: Log
}

/** A factor that has just been added. */
interface Added {
  readonly id: string
  /** Ten codes, if the user had none; they cannot be read again. */
  readonly recoveryCodes?: readonly string[]
}

/** An authenticator app (TOTP) whose owner has not confirmed it with a first code yet. */
interface Enrolment {
  readonly id: string
  readonly name: string
  readonly sealed: string
}

const MAX_PER_USER = 20
const MAX_NAME = 100
const ID_BYTES = 9
/** Time in which a user must enter the first code. */
const ENROLMENT_TTL: Milliseconds = 600_000
/** Each user has at most one enrolment, so the ephemeral store needs no limit on their number. */
const enrolmentKey = (userId: string): string => `factor-enrolment:${userId}`

/** The second factors of users, and the one check of them (D28). */
export class SecondFactors {
  readonly #deps: Dependencies
  /** Absent where passkeys are not offered. */
  passkeys: PasskeyVerifier | undefined

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  async list(userId: string): Promise<readonly Factor[]> {
    return await factorsOf(this.#deps.database, userId)
  }

  /** How many recovery codes the user has left. */
  async recoveryCodesLeft(userId: string): Promise<number> {
    return await countRecoveryCodes(this.#deps.database, userId)
  }

  /** The ways in which the user can prove a second factor, for a page that asks for one. */
  async kindsOf(userId: string): Promise<readonly ProofKind[]> {
    const kinds = new Set<ProofKind>((await this.list(userId)).map(({ kind }) => kind))
    if (!this.passkeys) kinds.delete('passkey')
    return (await this.recoveryCodesLeft(userId)) > 0 ? [...kinds, 'recovery'] : [...kinds]
  }

  /**
   * Begins to add an app that shows codes. An earlier enrolment of the user that is not confirmed ends.
   * @returns the secret in base 32, for the app @throws {InvalidInput} `invalid-value`
   */
  async enrolTotp({ user }: Caller, name: string): Promise<{ readonly id: string; readonly secret: string }> {
    const { ephemeral, secrets, system } = this.#deps
    requireFactorName(name)
    const secret = system.randomBytes(TOTP_SECRET_BYTES)
    const enrolment: Enrolment = { id: this.#newId(), name, sealed: await secrets.seal(secret, user.id) }
    await ephemeral.update(enrolmentKey(user.id), () => ({ value: enrolment, ttl: ENROLMENT_TTL }))
    return { id: enrolment.id, secret: base32(secret) }
  }

  /** @throws {NotFound} for an enrolment that is over @throws {Forbidden} `second-factor-wrong`, it can be tried again */
  async confirmTotp(caller: Caller, id: string, code: string): Promise<Added> {
    const { ephemeral, secrets, system } = this.#deps
    const key = enrolmentKey(caller.user.id)
    const enrolment = await ephemeral.get<Enrolment>(key)
    if (enrolment?.id !== id) throw new NotFound('not-found', 'This enrolment is unknown or older than ten minutes.')
    const secret = await secrets.open(enrolment.sealed, caller.user.id)
    const step = secret && matchingStep(secret, withoutSpaces(code), system.now(), 0)
    if (step === undefined) throw wrongAnswer()
    // If two requests confirm at the same time, one of them adds the factor.
    if ((await ephemeral.take<Enrolment>(key))?.id !== id) throw new NotFound('not-found', 'This enrolment is over.')
    return await this.add(caller, { kind: 'totp', name: enrolment.name, secret: enrolment.sealed, counter: step }, id)
  }

  /**
   * Adds a factor that the caller has just proven, and with the first one ten recovery codes. The first factor ends all other
   * sessions of the user, which lack it.
   * @throws {Conflict} with too many factors, or for a passkey that is known already
   */
  async add(caller: Caller, factor: NewFactor, id = this.#newId()): Promise<Added> {
    const { database, sessions, audit, system } = this.#deps
    const { user, session } = caller
    requireFactorName(factor.name)
    const entry = eventOf('factor-added', caller, user, { factor: id, kind: factor.kind, name: factor.name })
    const row: Factor = {
      credentialId: undefined,
      userHandle: undefined,
      transports: undefined,
      isSyncable: undefined,
      ...factor,
      id,
      userId: user.id,
      created: system.now(),
      lastUsed: undefined,
    }
    const recoveryCodes = newRecoveryCodes(system)
    const { isFirst, hasNew } = await database.transaction(async tx => {
      await presentCaller(tx, caller)
      const count = (await factorsOf(tx, user.id)).length
      if (count >= MAX_PER_USER) {
        throw new Conflict('conflict', `A user has at most ${MAX_PER_USER} second factors. Remove one first.`)
      }
      await insertOnce(tx, row)
      // This includes sessions that have proven an earlier factor, since removed: a thief may have added that factor and removed it.
      if (count === 0) await endOtherSessions(tx, user.id, session?.token)
      const hasCodes = (await countRecoveryCodes(tx, user.id)) > 0
      if (!hasCodes) await replaceRecoveryCodes(tx, user.id, digestsOf(user.id, recoveryCodes))
      await audit.insert(tx, entry)
      return { isFirst: count === 0, hasNew: !hasCodes }
    })
    audit.announce(entry)
    if (session) await sessions.noteProof(session, true).catch(unlessUnreachable)
    if (isFirst) await sessions.clearAway(user.id, session)
    return { id, ...(hasNew ? { recoveryCodes } : {}) }
  }

  /** @throws {NotFound} @throws {InvalidInput} `invalid-value` */
  async rename(caller: Caller, id: string, name: string): Promise<void> {
    requireFactorName(name)
    await this.#deps.database.transaction(async tx => {
      await presentCaller(tx, caller)
      await requireOwn(tx, caller, id)
      await renameFactor(tx, id, name)
    })
  }

  /** Removes a factor of the caller. With the last one, the recovery codes go too. @throws {NotFound} */
  async remove(caller: Caller, id: string): Promise<void> {
    await this.#removing(caller, async tx => [await requireOwn(tx, caller, id)])
  }

  /** Removes all factors of a user who has lost them. Resolves to their number. */
  async removeAll(caller: Caller, userId: string): Promise<number> {
    return await this.#removing(caller, async tx => await factorsOf(tx, userId))
  }

  /** Ten new codes; the old codes become invalid. @throws {Conflict} for a user without a factor */
  async renewRecoveryCodes(caller: Caller): Promise<readonly string[]> {
    const { database, audit, system } = this.#deps
    const { user } = caller
    const codes = newRecoveryCodes(system)
    const entry = eventOf('recovery-codes-created', caller, user, {})
    await database.transaction(async tx => {
      const present = await presentCaller(tx, caller)
      if (!present.user.hasSecondFactor) throw new Conflict('conflict', 'Add a second factor first.')
      await replaceRecoveryCodes(tx, user.id, digestsOf(user.id, codes))
      await audit.insert(tx, entry)
    })
    audit.announce(entry)
    return codes
  }

  /**
   * The one check of a second factor. It counts towards the lockout, and each code is accepted once, on all nodes.
   * @param bound what the answer belongs to: a pending login or a session
   * @throws {Forbidden} `second-factor-wrong` @throws {LockedOut}
   */
  async verify(
    user: User,
    answer: FactorAnswer,
    { client, bound }: { client: Client; bound: string },
  ): Promise<ProofKind> {
    const kind = kindOf(answer)
    let used: Pick<AuditEntry, 'event' | 'detail'> | undefined
    const isRight = await this.#deps.login.attemptFactor(user, client, kind, async () => {
      used = await this.#use(user, answer, { client, bound })
      return used !== undefined
    })
    if (!isRight || !used) throw wrongAnswer()
    await this.#deps.audit.record(eventOf(used.event, { user, client }, user, used.detail))
    return kind
  }

  /** Checks an answer, and uses it up. Resolves to the audit event of a right answer, and to `undefined` for a wrong one. */
  async #use(
    user: User,
    answer: FactorAnswer,
    purpose: { readonly client: Client; readonly bound: string },
  ): Promise<Pick<AuditEntry, 'event' | 'detail'> | undefined> {
    if ('passkey' in answer) {
      const found = await this.passkeys?.verify(answer.passkey, { userId: user.id, ...purpose })
      return found && { event: 'factor-used', detail: { factor: found.factorId, kind: 'passkey' } }
    }
    const code = withoutSpaces(answer.code)
    if (!looksLikeCode(code)) return await this.#useRecoveryCode(user, code)
    let used: Factor | undefined
    // Tries every app, so that the time does not reveal which app had the right code.
    for (const factor of await this.list(user.id)) {
      if (factor.kind === 'totp' && (await this.#useCode(factor, code)) && !used) used = factor
    }
    return used && { event: 'factor-used', detail: { factor: used.id, kind: used.kind, name: used.name } }
  }

  async #useCode(factor: Factor, code: string): Promise<boolean> {
    const { database, secrets, system, log } = this.#deps
    const secret = await secrets.open(factor.secret, factor.userId)
    if (!secret) {
      log.error({ user: factor.userId, factor: factor.id }, 'the key that seals this second factor is missing')
      return false
    }
    const now = system.now()
    const counter = matchingStep(secret, code, now, factor.counter)
    return counter !== undefined && (await advanceCounter(database, factor.id, { counter, now }))
  }

  async #useRecoveryCode({ id }: User, code: string): Promise<Pick<AuditEntry, 'event' | 'detail'> | undefined> {
    const { database } = this.#deps
    if (!(await takeRecoveryCode(database, id, recoveryDigest(id, code)))) return undefined
    return { event: 'recovery-code-used', detail: { left: await countRecoveryCodes(database, id) } }
  }

  async #removing(caller: Caller, choose: (tx: Queries) => Promise<readonly Factor[]>): Promise<number> {
    const { database, audit } = this.#deps
    const entries = await database.transaction(async tx => {
      const present = await presentCaller(tx, caller)
      const entries: AuditEntry[] = []
      for (const { id, userId, kind, name } of await choose(tx)) {
        if (userId !== present.user.id && !isAdmin(present)) throw notFound()
        await deleteFactor(tx, id)
        const owner = await findUser(tx, userId)
        const detail = { factor: id, kind, name }
        entries.push(eventOf('factor-removed', caller, { id: userId, name: owner?.name }, detail))
        if ((await factorsOf(tx, userId)).length === 0) await replaceRecoveryCodes(tx, userId, [])
      }
      for (const entry of entries) await audit.insert(tx, entry)
      return entries
    })
    for (const entry of entries) audit.announce(entry)
    return entries.length
  }

  #newId(): string {
    return Buffer.from(this.#deps.system.randomBytes(ID_BYTES)).toString('base64url')
  }
}

const kindOf = (answer: FactorAnswer): ProofKind =>
  'passkey' in answer ? 'passkey' : looksLikeCode(withoutSpaces(answer.code)) ? 'totp' : 'recovery'

/** Apps show codes in two groups. */
const withoutSpaces = (code: string): string => code.replace(/\s/g, '')

const digestsOf = (userId: string, codes: readonly string[]): string[] =>
  codes.map(code => recoveryDigest(userId, code))

async function requireOwn(tx: Queries, { user }: Caller, id: string): Promise<Factor> {
  const factor = await findFactor(tx, id)
  if (factor?.userId !== user.id) throw notFound()
  return factor
}

async function insertOnce(tx: Queries, factor: Factor): Promise<void> {
  try {
    await insertFactor(tx, factor)
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error
    throw new Conflict('conflict', 'This passkey is registered already.', { cause: error })
  }
}

function requireFactorName(name: string): void {
  if (name.trim() !== '' && name.length <= MAX_NAME && !/\p{C}/u.test(name)) return
  throw new InvalidInput('invalid-value', `\`name\` must be 1 to ${MAX_NAME} characters without control characters.`)
}

const notFound = (): NotFound => new NotFound('not-found', 'There is no second factor with this id.')

const wrongAnswer = (): Forbidden =>
  new Forbidden('second-factor-wrong', 'The code is wrong, has expired or was already used.')

/** How many codes a user gets at once. */
const RECOVERY_CODES = 10
/** 80 bits, so that no code can be found by trying all of them against a stolen digest. */
const CODE_BYTES = 10
const GROUP = 4
/** Crockford's base 32: no letters that look like digits. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

/** Ten codes as they are shown, such as `8k2m-p0tz-…`. */
export const newRecoveryCodes = (system: System): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => codeText(system.randomBytes(CODE_BYTES)))

function codeText(random: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(random).toString('hex')}`)
  let digits = ''
  for (let count = 0; count < (CODE_BYTES * 8) / 5; count++, rest /= 32n) digits += DIGITS.charAt(Number(rest % 32n))
  return digits.replace(new RegExp(`(.{${GROUP}})(?=.)`, 'g'), '$1-')
}

/** The digest of a recovery code, which the store keeps. It is the same for all ways to type the code, and differs between users. */
export function recoveryDigest(userId: string, code: string): string {
  const typed = code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1')
  return digestOf(`${userId}\n${typed}`)
}
