import { InvalidInput } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { EphemeralStore } from '../../stores/ephemeral-store.ts'
import { sql } from '../../stores/sql.ts'
import type { Audit } from '../../accounts/audit.ts'
import { networkOf } from '../../accounts/network.ts'
import type { MailQueue } from '../../mails/mail-queue.ts'
import type { PasswordLoginPolicy } from '../../accounts/login.ts'
import type { PasswordRules } from '../../accounts/password-rules.ts'
import type { Passwords } from '../../accounts/passwords.ts'
import type { Client, Sessions } from '../../accounts/sessions.ts'
import { isMailAddress, linkMail, type MailTexts } from '../../mails/link-mail.ts'
import { digestOf } from '../../accounts/tokens.ts'
import { isLinked } from '../../accounts/provider-links.ts'
import { forgetDevices } from '../../accounts/trusted-devices.ts'
import {
  changeUser,
  findUser,
  findUserByName,
  forgetWrongPasswords,
  normaliseName,
  type User,
} from '../../accounts/users.ts'

interface Dependencies {
  readonly database: Database
  readonly ephemeral: EphemeralStore
  readonly mails: MailQueue
  readonly passwordLogins: PasswordLoginPolicy
  readonly passwords: Passwords
  readonly passwordRules: PasswordRules
  readonly sessions: Sessions
  readonly audit: Audit
  readonly system: System
}

const TTL: Milliseconds = 86_400_000
const TOKEN_BYTES = 32
/** Maximum number of mails per hour to one mailbox, no matter who requests them. */
const MAX_MAILS = 3
const MAIL_WINDOW: Milliseconds = 3_600_000

/** A user who has never had a password is invited. */
export type MailKind = 'invitation' | 'reset'

/** What the mail needs from the caller of {@link PasswordReset.request}. */
interface ResetMailOptions {
  /** The base address of the service. */
  readonly address: string
  /** The address of the page for this token. */
  readonly linkTo: (token: string) => string
  /** The texts in the language of the user; in the language of the request if the user has chosen none. */
  readonly textsFor: (kind: MailKind, language: string | undefined) => MailTexts
}

interface ResetRow {
  user_id: string
  epoch: number
  /** The name of the user when the mail was sent; absent in rows of an earlier version. */
  address: string | null
}

/**
 * Lets a user who can read the mails of an account set a new password (D5.7). The link only opens a page; the user enters
 * the password there. A token works once, for a day, and not after the password or the name has been changed in another way. The store
 * keeps only a digest of the token.
 */
export class PasswordReset {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Queues a mail if the address is the name of a user who may sign in with a password. The response is immediate and the
   * same for every address, because the lookup happens in the queue.
   */
  request(email: string, client: Client, { address, linkTo, textsFor }: ResetMailOptions): void {
    this.#deps.mails.add(async () => {
      const user = await this.#recipient(email)
      if (!user?.name || !(await this.#mayMail(user))) return undefined
      const token = Buffer.from(this.#deps.system.randomBytes(TOKEN_BYTES)).toString('base64url')
      await this.#deps.database.run(sql`INSERT INTO password_resets (digest, user_id, epoch, address, expires)
        VALUES (${digestOf(token)}, ${user.id}, ${user.epoch}, ${user.name}, ${this.#deps.system.now() + TTL})`)
      const subject = { userId: user.id, userName: user.name, address: client.address }
      await this.#deps.audit.record({ event: 'password-reset-requested', ...subject })
      const texts = textsFor(user.password === undefined ? 'invitation' : 'reset', user.language)
      return linkMail(texts, { name: user.name, link: linkTo(token), address, hours: TTL / 3_600_000 })
    }, networkOf(client.address))
  }

  /** Whether the token would be accepted now. Changes nothing, so that a mail scanner that opens the link does no harm. */
  async isGood(token: string): Promise<boolean> {
    return (await this.#userOf(this.#deps.database, token)) !== undefined
  }

  /**
   * Sets the password, consumes the token, ends all sessions and lifts a lockout by wrong passwords.
   * @throws {InvalidInput} `invalid-reset-token`; `password-rules`, which leaves the token valid
   */
  async reset(token: string, password: string, client: Client): Promise<void> {
    const asker = await this.#userOf(this.#deps.database, token)
    if (!asker) throw badToken()
    this.#deps.passwordRules.require(password, [asker.name])
    const hash = await this.#deps.passwords.hash(password)
    const user = await this.#deps.database.transaction(async tx => {
      const present = await this.#userOf(tx, token)
      if (!present) throw badToken()
      await tx.run(sql`DELETE FROM password_resets WHERE user_id = ${present.id}`)
      await forgetDevices(tx, present.id)
      await forgetWrongPasswords(tx, present.id)
      return await changeUser(tx, present, { password: hash })
    })
    await this.#deps.sessions.clearAway(user.id)
    await this.#deps.audit.record({
      event: 'password-reset',
      userId: user.id,
      userName: user.name,
      address: client.address,
    })
  }

  /** Deletes expired tokens. */
  async expire(): Promise<void> {
    await this.#deps.database.run(sql`DELETE FROM password_resets WHERE expires <= ${this.#deps.system.now()}`)
  }

  async #recipient(email: string): Promise<User | undefined> {
    const name = normaliseName(email)
    if (!isMailAddress(name)) return undefined
    const user = await findUserByName(this.#deps.database, name)
    return user && (await this.#mayReset(this.#deps.database, user)) ? user : undefined
  }

  /** An account that only a provider signs in gets no password: it would outlive its end at the provider. */
  async #mayReset(queries: Queries, { id, name = '', password, disabled }: User): Promise<boolean> {
    if (disabled || !this.#deps.passwordLogins.admits(name)) return false
    return password !== undefined || !(await isLinked(queries, id))
  }

  async #mayMail(user: User): Promise<boolean> {
    const count = await this.#deps.ephemeral.update<number>(`reset-mails:${user.id}`, old =>
      old === undefined ? { value: 1, ttl: MAIL_WINDOW } : { value: old + 1 },
    )
    return (count ?? 0) <= MAX_MAILS
  }

  async #userOf(queries: Queries, token: string): Promise<User | undefined> {
    const row = await queries.get<ResetRow>(sql`SELECT user_id, epoch, address FROM password_resets
      WHERE digest = ${digestOf(token)} AND expires > ${this.#deps.system.now()}`)
    const user = row && (await findUser(queries, row.user_id))
    if (!user || user.epoch !== row.epoch || user.name !== row.address) return undefined
    return (await this.#mayReset(queries, user)) ? user : undefined
  }
}

const badToken = (): InvalidInput =>
  new InvalidInput(
    'invalid-reset-token',
    'This link was already used, has expired or is incomplete. Request a new one.',
  )
