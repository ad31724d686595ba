import { parseStored } from '../../base/json.ts'
import { crc32 } from 'node:zlib'
import { AddressRanges, isAddressRange } from '../../base/address-ranges.ts'
import { Conflict, InvalidInput, NotFound, Unauthenticated } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds, Seconds } from '../../base/units.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { DependencyCache } from '../../stores/dependency-cache.ts'
import { sql } from '../../stores/sql.ts'
import type { CredentialKind } from '../../accounts/credential-kinds.ts'
import { type Audit, eventOf } from '../../accounts/audit.ts'
import { isAdmin } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import type { TokenGrant, TokenScope } from '../../accounts/token-scopes.ts'
import type { UserCache } from '../../accounts/user-cache.ts'
import type { Client } from '../../accounts/sessions.ts'
import { digestOf } from '../../accounts/tokens.ts'

/** The choices of a user who creates a token. */
export interface TokenRequest {
  readonly name: string
  readonly expires: Milliseconds
  readonly scopes: readonly TokenScope[]
  /** Ids of the contexts that the token is limited to. */
  readonly contexts: readonly string[] | undefined
  /** CIDR ranges that requests with the token may come from. */
  readonly addresses: readonly string[] | undefined
}

/** A token as shown to its owner and to administrators, without the token itself. */
export interface AccessToken extends TokenRequest {
  readonly id: string
  readonly userId: string
  readonly created: Milliseconds
  readonly lastUsed: Milliseconds | undefined
  readonly lastAddress: string | undefined
}

interface Row {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly scopes: string
  readonly contexts: string | null
  readonly addresses: string | null
  readonly created: number
  readonly expires: number
  readonly last_used: number | null
  readonly last_address: string | null
}

/** The part of a token that each request needs. */
interface Verifiable {
  readonly userId: string
  readonly expires: Milliseconds
  readonly grant: TokenGrant
  readonly ranges: AddressRanges | undefined
  lastUsed: Milliseconds
}

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly users: UserCache
  readonly audit: Audit
  readonly system: System
  readonly log: Log
}

interface AccessTokenOptions {
  /** Maximum lifetime of a token. */
  readonly maxAge: Seconds
}

const MAX_PER_USER = 100
const MAX_NAME = 100
const MAX_LISTED = 100
const ID_BYTES = 9
const CACHED_BYTES = 1000
/** The time of last use is written again when the stored one is this old. */
const USE_INTERVAL: Milliseconds = 60_000
/** Refusals of an existing token cause at most one row in the audit log in this time. */
const REFUSAL_INTERVAL: Milliseconds = 60_000
const MAX_REFUSED = 1000
/** How long an expired token stays in the list. */
const EXPIRED_KEPT: Milliseconds = 30 * 86_400_000

const columns = sql`id, user_id, name, scopes, contexts, addresses, created, expires, last_used, last_address`

/**
 * Access tokens: credentials for programs, with fewer rights than their user (D24). The database stores a
 * digest. A request finds the token in a cache that follows the change log, so a revoked token ends with the
 * next request on every node and thread.
 */
export class AccessTokens {
  readonly #deps: Dependencies
  readonly #options: AccessTokenOptions
  /** Time of the last recorded refusal, by the id of the token. */
  readonly #refused = new Map<string, Milliseconds>()
  readonly #writing = new Set<Promise<void>>()

  constructor(deps: Dependencies, options: AccessTokenOptions) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * @param name the user name that came with the token; absent or empty if any is accepted
   * @throws {Unauthenticated} `invalid-access-token`, whatever is wrong. Does not count for the lockout: 256 random bits cannot be
   * guessed.
   */
  async caller(token: string, client: Client, name = ''): Promise<Caller> {
    if (!hasRightChecksum(token)) throw refused()
    const known = await this.#find(token)
    if (!known) return await this.#refuse(client, 'unknown')
    const found = await this.#deps.users.find(known.userId)
    if (this.#deps.system.now() >= known.expires) return await this.#refuse(client, 'expired', known)
    if (known.ranges && !known.ranges.has(client.address)) return await this.#refuse(client, 'address', known)
    if (!found || found.user.disabled || (name !== '' && name !== found.user.name)) {
      return await this.#refuse(client, 'user', known)
    }
    this.#noteUse(known, client)
    const isStillValid = (queries: Queries): Promise<boolean> => this.isStillValid(queries, known.grant)
    return { user: found.user, groups: found.groups, client, grant: known.grant, isStillValid }
  }

  /** Whether the token has neither expired nor been revoked. */
  async isStillValid(queries: Queries, { tokenId }: TokenGrant): Promise<boolean> {
    const now = this.#deps.system.now()
    const found = await queries.get(sql`SELECT id FROM access_tokens WHERE id = ${tokenId} AND expires > ${now}`)
    return found !== undefined
  }

  /** @returns the token, which cannot be read again @throws {InvalidInput} `invalid-value` @throws {Conflict} */
  async create(caller: Caller, wish: TokenRequest): Promise<{ readonly id: string; readonly token: string }> {
    const { database, system, audit } = this.#deps
    const now = system.now()
    this.#requireValid(caller, wish, now)
    const id = Buffer.from(system.randomBytes(ID_BYTES)).toString('base64url')
    const token = tokenText(system.randomBytes(TOKEN_BYTES))
    const { name, expires, scopes, contexts, addresses } = wish
    const userId = caller.user.id
    const detail = { token: id, name, scope: scopes.join(' '), expires: new Date(expires).toJSON() }
    const entry = eventOf('access-token-created', caller, caller.user, detail)
    await database.transaction(async tx => {
      await presentCaller(tx, caller)
      const row = await tx.get<{ count: number }>(
        sql`SELECT count(*) AS count FROM access_tokens WHERE user_id = ${userId}`,
      )
      if ((row?.count ?? 0) >= MAX_PER_USER) {
        throw new Conflict('conflict', `A user has at most ${MAX_PER_USER} access tokens. Revoke one first.`)
      }
      await tx.run(sql`INSERT INTO access_tokens (id, digest, user_id, name, scopes, contexts, addresses, created, expires)
        VALUES (${id}, ${digestOf(token)}, ${userId}, ${name}, ${JSON.stringify(scopes)}, ${asJson(contexts)},
          ${asJson(addresses)}, ${now}, ${expires})`)
      await audit.insert(tx, entry)
    })
    audit.announce(entry)
    return { id, token }
  }

  /** The user's tokens, the latest first, including those that expired recently. */
  async list(userId: string): Promise<AccessToken[]> {
    const rows = await this.#deps.database.all<Row>(
      sql`SELECT ${columns} FROM access_tokens WHERE user_id = ${userId} ORDER BY created DESC, id LIMIT ${MAX_LISTED}`,
    )
    return rows.map(tokenOf)
  }

  /** Owners and administrators revoke a token. @throws {NotFound} also for a token that the caller may not revoke */
  async revoke(caller: Caller, id: string): Promise<void> {
    const { database, audit } = this.#deps
    const entry = await database.transaction(async tx => {
      const present = await presentCaller(tx, caller)
      const row = await tx.get<Row>(sql`SELECT ${columns} FROM access_tokens WHERE id = ${id}`)
      if (!row || (row.user_id !== present.user.id && !isAdmin(present))) {
        throw new NotFound('not-found', `There is no access token with the id "${id}".`)
      }
      await tx.run(sql`DELETE FROM access_tokens WHERE id = ${id}`)
      const entry = eventOf('access-token-revoked', caller, { id: row.user_id }, { token: id, name: row.name })
      await audit.insert(tx, entry)
      return entry
    })
    audit.announce(entry)
  }

  /** Deletes tokens that expired long ago. */
  async expire(): Promise<void> {
    const before = this.#deps.system.now() - EXPIRED_KEPT
    await this.#deps.database.run(sql`DELETE FROM access_tokens WHERE expires < ${before}`)
  }

  /** Resolves when all noted uses have been written. */
  async close(): Promise<void> {
    await Promise.all(this.#writing)
  }

  #find(token: string): Promise<Verifiable | undefined> {
    const digest = digestOf(token)
    return this.#deps.cache.get(`access-token ${digest}`, async () => {
      const row = await this.#deps.database.get<Row>(sql`SELECT ${columns} FROM access_tokens WHERE digest = ${digest}`)
      return row && { value: verifiable(row), subjects: [`_principals/${row.user_id}`], bytes: CACHED_BYTES }
    })
  }

  /** The reason goes to the audit log only: a finder of a leaked token learns nothing about it. */
  async #refuse({ address }: Client, why: string, known?: Verifiable): Promise<never> {
    const detail = { mechanism: 'access-token', why }
    if (!known || this.#isWorthARow(known.grant.tokenId))
      await this.#deps.audit.record({ event: 'login-failed', userId: known?.userId, address, detail })
    throw refused()
  }

  /** A program that keeps using an expired token must not fill the audit log. */
  #isWorthARow(tokenId: string): boolean {
    const now = this.#deps.system.now()
    const last = this.#refused.get(tokenId)
    if (last !== undefined && now - last < REFUSAL_INTERVAL) return false
    if (this.#refused.size >= MAX_REFUSED) this.#refused.clear()
    this.#refused.set(tokenId, now)
    return true
  }

  /** Not awaited by the request, because a long import may be writing. */
  #noteUse(known: Verifiable, { address }: Client): void {
    const { database, system, log } = this.#deps
    const now = system.now()
    if (now - known.lastUsed < USE_INTERVAL) return
    known.lastUsed = now
    const { tokenId } = known.grant
    const note = sql`UPDATE access_tokens SET last_used = ${now}, last_address = ${address} WHERE id = ${tokenId}
      AND (last_used IS NULL OR last_used <= ${now - USE_INTERVAL})`
    // A full or read-only disk must not stop a program that only reads.
    const writing = database
      .transaction(tx => tx.run(note), { durability: 'relaxed' })
      .catch((error: unknown) => log.error({ err: error }, 'noting the use of an access token failed'))
      .then(() => void this.#writing.delete(writing))
    this.#writing.add(writing)
  }

  /** @throws {InvalidInput} `invalid-value` */
  #requireValid(caller: Caller, { name, expires, scopes, contexts, addresses }: TokenRequest, now: Milliseconds): void {
    const latest = now + this.#options.maxAge * 1000
    if (name.trim() === '' || name.length > MAX_NAME || /\p{C}/u.test(name)) {
      throw invalid(`\`name\` must be 1 to ${MAX_NAME} characters without control characters.`)
    }
    if (!(expires > now && expires <= latest)) {
      throw invalid(
        `\`expires\` must be a time in the future, at the latest ${new Date(latest).toISOString()}, but is ${new Date(expires).toJSON()}.`,
      )
    }
    if (scopes.length === 0) throw invalid('`scopes` must name at least one scope.')
    if (scopes.includes('admin') && !isAdmin(caller)) throw invalid('Only administrators have the scope `admin`.')
    if (scopes.includes('admin') && contexts)
      throw invalid('A token with the scope `admin` cannot be limited to contexts.')
    if (contexts?.length === 0) throw invalid('`contexts` must name at least one context, or be left out.')
    if (addresses?.length === 0) throw invalid('`addresses` must name at least one range, or be left out.')
    const wrong = addresses?.find(range => !isAddressRange(range))
    if (wrong !== undefined) throw invalid(`"${wrong.slice(0, 60)}" is no address range such as 192.0.2.0/24.`)
  }
}

/** Enabling the user again does not bring the tokens back. */
export async function deleteTokensOf(tx: Queries, userId: string): Promise<void> {
  await tx.run(sql`DELETE FROM access_tokens WHERE user_id = ${userId}`)
}

/** Access tokens come as a bearer token (RFC 6750), or as the password of HTTP Basic. A password may begin like a token. */
export const accessTokenKind = (tokens: Pick<AccessTokens, 'caller' | 'isStillValid'>): CredentialKind => ({
  isOf: ({ scheme, text }) => (scheme === 'bearer' ? text.startsWith(TOKEN_PREFIX) : looksLikeToken(text)),
  caller: ({ text, name }, client) => tokens.caller(text, client, name),
  isStillValid: (queries, grant) => tokens.isStillValid(queries, grant),
})

const refused = (): Unauthenticated =>
  new Unauthenticated(
    'invalid-access-token',
    'The access token is unknown, expired, revoked, of a disabled user, or not accepted from this address.',
  )

const invalid = (detail: string): InvalidInput => new InvalidInput('invalid-value', detail)

const asJson = (list: readonly string[] | undefined): string | null => (list ? JSON.stringify(list) : null)
const asList = (text: string | null): readonly string[] | undefined =>
  text === null ? undefined : parseStored<string[]>(text)

const tokenOf = (row: Row): AccessToken => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  scopes: parseStored<TokenScope[]>(row.scopes),
  contexts: asList(row.contexts),
  addresses: asList(row.addresses),
  created: row.created,
  expires: row.expires,
  lastUsed: row.last_used ?? undefined,
  lastAddress: row.last_address ?? undefined,
})

function verifiable(row: Row): Verifiable {
  const { id: tokenId, userId, expires, scopes, contexts, addresses, lastUsed = 0 } = tokenOf(row)
  return {
    userId,
    expires,
    grant: { tokenId, scopes, ...(contexts ? { contexts } : {}) },
    ranges: addresses && new AddressRanges(addresses),
    lastUsed,
  }
}

/** The prefix and the checksum let scanners of source code and logs recognise a leaked token (D24.2). */
const TOKEN_PREFIX = 'stow_'
/** Length of the random part in bytes: 256 bits. */
const TOKEN_BYTES = 32

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Digits in base 62 of 256 bits, and of 32 bits. */
const SECRET_DIGITS = 43
const CHECKSUM_DIGITS = 6
const FORM = /^stow_[0-9A-Za-z]{49}$/

/** `stow_`, the random bytes in 43 digits of base 62, and their CRC-32 in 6. */
export function tokenText(random: Uint8Array): string {
  const secret = base62(BigInt(`0x${Buffer.from(random).toString('hex')}`), SECRET_DIGITS)
  return TOKEN_PREFIX + secret + checksumOf(secret)
}

/** Whether a text has the form of a token. It may still have a wrong checksum, or never have been issued. */
export const looksLikeToken = (text: string): boolean => FORM.test(text)

/** Whether the checksum is right. Tokens with a wrong one are refused without a database lookup. */
export function hasRightChecksum(token: string): boolean {
  const secret = token.slice(TOKEN_PREFIX.length, -CHECKSUM_DIGITS)
  return looksLikeToken(token) && token.endsWith(checksumOf(secret))
}

/** Every request with a token computes it, so it does without BigInt. */
function checksumOf(secret: string): string {
  let digits = ''
  for (let rest = crc32(secret); digits.length < CHECKSUM_DIGITS; rest = Math.floor(rest / 62))
    digits = DIGITS.charAt(rest % 62) + digits
  return digits
}

function base62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}
