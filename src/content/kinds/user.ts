import {
  type Caller,
  denied,
  isAdmin,
  opensContext,
  type RequireFresh,
  requireAdmin,
  requireNoToken,
} from '../../accounts/caller.ts'
import type { AuditEntry } from '../../accounts/audit.ts'
import { countedUser, type Lockout } from '../../accounts/lockout.ts'
import type { Login } from '../../accounts/login.ts'
import type { PasswordRules } from '../../accounts/password-rules.ts'
import type { Passwords } from '../../accounts/passwords.ts'
import {
  GUEST,
  changeUser,
  deletePrincipal,
  findUser,
  insertUser,
  forgetWrongPasswords,
  isLinked,
  requireName,
  type User,
  type UserChange,
} from '../../accounts/users.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import { forgetDevices } from '../../accounts/trusted-devices.ts'
import { Forbidden, InvalidInput, NotFound } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { requireHomeContext } from '../contexts.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type { CreationBody } from '../creation-request.ts'
import { forgetUserQuota } from '../../files/quota-owners.ts'
import { type Entry, userAcl } from '../../model/entry.ts'
import { type EntryAddress, PRINCIPALS } from '../../model/addresses.ts'
import { type AccessCheck, may, type EntryInContext } from '../../model/rights.ts'
import type {
  CreateResourceInput,
  Naming,
  ResourceBody,
  ResourceConditions,
  ResourceContent,
  ResourceKind,
  ResourceView,
  Written,
} from '../resource-kind.ts'
import { requireMayEnable } from './account-guards.ts'
import { joinGroup } from './join-group.ts'
import { readFlag, readLanguage, readProperties } from './user-members.ts'
import { isObject, jsonTypeOf } from '../../base/json.ts'
import { requirePasswordText, requireText } from '../values.ts'

/** The user resource as clients see it (W2.6). */
interface UserDescription {
  readonly name?: string
  readonly homecontext?: string
  readonly language?: string
  readonly disabled?: true
  /** Shown to administrators: the user must choose a new password at the next sign-in (D33). */
  readonly temporaryPassword?: true
  /** End of a temporary lockout, UTC without a zone. */
  readonly disabledUntil?: string
  readonly customProperties: Readonly<Record<string, string>>
}

const describeUser = (caller: Caller, user: User, lockedUntil: Milliseconds | undefined): UserDescription => ({
  ...(user.name === undefined ? {} : { name: user.name }),
  ...(user.homeContext === undefined ? {} : { homecontext: user.homeContext }),
  ...(user.language === undefined ? {} : { language: user.language }),
  ...(user.disabled ? { disabled: true } : {}),
  ...(user.hasTemporaryPassword && isAdmin(caller) ? { temporaryPassword: true } : {}),
  ...(lockedUntil === undefined ? {} : { disabledUntil: new Date(lockedUntil).toISOString().replace(/Z$/, '') }),
  customProperties: user.customProperties,
})

interface Dependencies {
  readonly database: Database
  readonly changes: Changes
  readonly login: Login
  readonly passwords: Passwords
  readonly passwordRules: PasswordRules
  readonly sessions: Sessions
  readonly lockout: Lockout
  readonly requireFresh: RequireFresh
}

export interface UserOptions {
  /** Whether users must send their current password to change it (D5.3). */
  readonly requireCurrentPassword: boolean
}

const members = [
  'name',
  'password',
  'temporaryPassword',
  'currentPassword',
  'language',
  'homecontext',
  'disabled',
  'customProperties',
] as const
/** What decides who can use the account. */
const isCritical = (member: string): boolean => ['name', 'password', 'disabled'].includes(member)
type Wish = Readonly<Partial<Record<(typeof members)[number], unknown>>>

/**
 * A user: name, password, language, home context, custom properties, and members that only administrators change (W2.6).
 */
export class UserKind implements ResourceKind {
  readonly isCreatable = true
  readonly home = PRINCIPALS
  readonly initialAcl = userAcl
  readonly naming: Naming = {
    isPublic: false,
    check: caller => requireRenaming(caller),
    find: async (queries, id) => (await findUser(queries, id))?.name,
    set: async (writer, id, raw) => {
      this.#deps.requireFresh(writer.caller)
      const user = await findUser(writer.tx, id)
      if (!user) return
      const { name } = await changeUser(writer.tx, user, { name: requireName(raw) })
      writer.record({ event: 'user-renamed', userId: user.id, userName: name })
    },
  }
  readonly #deps: Dependencies
  readonly #options: UserOptions

  constructor(deps: Dependencies, options: UserOptions) {
    this.#deps = deps
    this.#options = options
  }

  async prepare({ resource }: CreationBody, caller: Caller): Promise<string | undefined> {
    if (!isObject(resource) || resource['password'] === undefined) return undefined
    // The same as setting the password of a user.
    requireNoToken(caller, 'create a user with a password')
    this.#deps.requireFresh(caller)
    const password = requirePasswordText(resource['password'], 'password')
    this.#deps.passwordRules.require(password, [requireOptionalName(resource)])
    return await this.#deps.passwords.hash(password)
  }

  async create(writer: EntryWriter, making: CreateResourceInput): Promise<Entry> {
    const { entry, request, body, hash } = making
    await insertRequestedUser(writer, entry.id, body.resource, hash)
    if (request.groupUri !== undefined) await joinGroup(writer, making, request.groupUri, this.#deps.requireFresh)
    return entry
  }

  async view(caller: Caller, { entry }: EntryInContext): Promise<ResourceView> {
    const user = await findUser(this.#deps.database, entry.id)
    return { form: 'value', value: user ? await this.#describe(caller, user) : {} }
  }

  /** A lockout changes what is shown without a change of the entry. */
  async content(caller: Caller, { entry }: EntryInContext): Promise<ResourceContent> {
    const read = async (): Promise<UserDescription> => await this.#describe(caller, await this.#get(entry.id))
    return { form: 'json', isVersioned: false, read }
  }

  async #describe(caller: Caller, user: User): Promise<UserDescription> {
    return describeUser(caller, user, await this.#deps.lockout.lockedUntil(countedUser(user)))
  }

  /** @throws {NotFound} */
  async #get(id: string, queries: Queries = this.#deps.database): Promise<User> {
    const user = await findUser(queries, id)
    if (!user) throw new NotFound('not-found', `There is no user "${id}".`)
    return user
  }

  /**
   * Applies all of the request or nothing (D5.4). The right is checked before the current password, so that a caller cannot
   * test another user's password here (D5.3).
   */
  async write(
    caller: Caller,
    target: EntryInContext,
    body: ResourceBody,
    { entry: precondition }: ResourceConditions,
  ): Promise<Written> {
    const user = await this.#get(target.entry.id)
    mayChange(caller, target)
    const wish = readWish(await body.json())
    requireAllowed(caller, user, wish)
    if (!isSelf(caller, user) || members.some(member => isCritical(member) && wish[member] !== undefined)) {
      this.#deps.requireFresh(caller)
    }
    const change = { ...(await this.#readChange(user, wish)), ...(await this.#newPassword(caller, user, wish)) }
    // A user who changes their own password keeps the session in which they do it.
    const own = isSelf(caller, user) && change.password !== undefined ? caller.session : undefined
    const conditions = { check: mayChange, precondition }
    const entry = await this.#deps.changes.change(caller, target, conditions, async (entry, writer) => {
      const { tx } = writer
      const now = await this.#get(entry.id, tx)
      requireAllowed(writer.caller, now, wish)
      if (now.disabled && change.disabled === false) await requireMayEnable(tx, writer.caller, now.id)
      if (change.password !== undefined) {
        // Another password may have been set while this one was hashed, to lock out people who know the old one.
        if (isSelf(caller, now) && now.epoch !== caller.user.epoch) throw currentPasswordWrong()
        await forgetDevices(tx, now.id)
        // An administrator who sets a password wants to give the user access, so earlier wrong passwords must
        // not lock the user out.
        if (!isSelf(caller, now)) await forgetWrongPasswords(tx, now.id)
      }
      await changeUser(tx, now, change, own?.token)
      for (const event of eventsOf(now, change)) writer.record(event)
      return entry
    })
    // The new epoch has already ended the other sessions; this deletes them from the store.
    if (change.password !== undefined || change.disabled) await this.#deps.sessions.clearAway(user.id, own)
    return { entry }
  }

  async remove(writer: EntryWriter, { id }: EntryAddress): Promise<void> {
    this.#deps.requireFresh(writer.caller)
    const user = await findUser(writer.tx, id)
    await deletePrincipal(writer.tx, id)
    await forgetUserQuota(writer.tx, id)
    if (user) writer.record({ event: 'user-deleted', userId: id, userName: user.name })
  }

  async removed({ id }: EntryAddress): Promise<void> {
    await this.#deps.sessions.clearAway(id)
  }

  async #readChange(user: User, wish: Wish): Promise<UserChange> {
    const { name, disabled, language, homecontext, customProperties } = wish
    return {
      ...(name === undefined ? {} : { name: requireName(requireText(name, 'name')) }),
      ...(disabled === undefined ? {} : { disabled: readFlag(disabled, 'disabled') }),
      ...(language === undefined ? {} : { language: readLanguage(language) }),
      ...(homecontext === undefined ? {} : { homeContext: await this.#readHomeContext(homecontext) }),
      ...(customProperties === undefined ? {} : { customProperties: readProperties(customProperties, user.id) }),
    }
  }

  async #readHomeContext(value: unknown): Promise<string | undefined> {
    const given = requireText(value, 'homecontext')
    return given === '' ? undefined : await requireHomeContext(this.#deps.database, given)
  }

  async #newPassword(
    caller: Caller,
    user: User,
    wish: Wish,
  ): Promise<Pick<UserChange, 'password' | 'hasTemporaryPassword'>> {
    const hasTemporaryPassword = readTemporary(wish)
    if (hasTemporaryPassword && isSelf(caller, user)) {
      throw new InvalidInput('invalid-value', 'Your own password cannot be temporary.')
    }
    if (wish.password === undefined) return {}
    if (user.id === GUEST) throw new Forbidden('not-allowed', 'The guest has no password.')
    const password = requirePasswordText(wish.password, 'password')
    if (isSelf(caller, user)) await this.#requireMayReplace(caller, wish.currentPassword)
    this.#deps.passwordRules.require(password, [user.name, requireOptionalName(wish)])
    return { password: await this.#deps.passwords.hash(password), hasTemporaryPassword }
  }

  /** Whether users may replace their own password. @throws {Forbidden} */
  async #requireMayReplace(caller: Caller, current: unknown): Promise<void> {
    const { user } = caller
    this.#deps.login.requireAdmitted(user)
    if (this.#options.requireCurrentPassword) return await this.#requireCurrent(caller, current)
    // The account would outlive its end at the provider.
    if (user.password === undefined && (await isLinked(this.#deps.database, user.id)))
      throw new Forbidden('not-allowed', 'You sign in through an identity provider, so you have no password here.')
  }

  async #requireCurrent({ user, client }: Caller, current: unknown): Promise<void> {
    if (current === undefined || current === '') {
      throw new Forbidden('current-password-required', 'Send `currentPassword` together with `password`.')
    }
    await this.#deps.login.requireCurrentPassword(user, requirePasswordText(current, 'currentPassword'), client)
  }
}

function eventsOf({ id: userId, name: userName, ...before }: User, change: UserChange): Omit<AuditEntry, 'actorId'>[] {
  const subject = { userId, userName }
  const isRenamed = change.name !== undefined && change.name !== userName
  const isSwitched = change.disabled !== undefined && change.disabled !== before.disabled
  return [
    ...(change.password === undefined
      ? []
      : [
          {
            ...subject,
            event: 'password-changed' as const,
            ...(change.hasTemporaryPassword ? { detail: { temporary: 'true' } } : {}),
          },
        ]),
    ...(isRenamed ? [{ ...subject, event: 'user-renamed' as const, detail: { newName: change.name ?? '' } }] : []),
    ...(isSwitched
      ? [{ ...subject, event: change.disabled ? ('user-disabled' as const) : ('user-enabled' as const) }]
      : []),
  ]
}

/** Whether the password of the request is a temporary one. @throws {InvalidInput} without a password */
function readTemporary({ password, temporaryPassword }: Wish): boolean {
  if (temporaryPassword === undefined) return false
  if (password !== undefined) return readFlag(temporaryPassword, 'temporaryPassword')
  throw new InvalidInput('invalid-value', 'Send `temporaryPassword` together with `password`.')
}

const currentPasswordWrong = (): Forbidden =>
  new Forbidden('current-password-wrong', 'The password has been changed meanwhile.')

function readWish(body: unknown): Wish {
  if (!isObject(body))
    throw new InvalidInput('invalid-value', `The body must be a JSON object, but is ${jsonTypeOf(body)}.`)
  const unknown = Object.keys(body).filter(member => !members.some(known => known === member))
  if (unknown.length > 0)
    throw new InvalidInput(
      'invalid-value',
      `A user has no ${unknown.map(name => `\`${name}\``).join(', ')}. Members are ${members.join(', ')}.`,
    )
  return body
}

const isSelf = (caller: Caller, { id }: { readonly id: string }): boolean => id === caller.user.id && id !== GUEST

/**
 * A reset by e-mail goes to the address that is the name, so it is not enough to administer the entry of the user.
 * @throws {Unauthenticated | Forbidden} also for an access token (D24.5)
 */
function requireRenaming(caller: Caller): void {
  requireNoToken(caller, 'rename a user')
  requireAdmin(caller, 'change the name of a user')
}

const mayChange: AccessCheck = (caller, target) => {
  const isOwn = isSelf(caller, target.entry) && opensContext(caller, PRINCIPALS)
  if (isAdmin(caller) || isOwn || may(caller, 'writeresource', target)) return
  throw denied(caller, 'change this user')
}

/**
 * Checks members that only administrators may change, that the user may change themselves, and that users may not change for
 * themselves.
 */
function requireAllowed(caller: Caller, user: User, wish: Wish): void {
  if (wish.password !== undefined) requireNoToken(caller, 'change a password')
  if (wish.password !== undefined && !isAdmin(caller) && !isSelf(caller, user)) {
    throw denied(caller, 'change this password')
  }
  const renames = wish.name !== undefined && requireName(requireText(wish.name, 'name')) !== user.name
  if (renames) requireRenaming(caller)
  if (renames && user.id.startsWith('_'))
    throw new Forbidden('not-allowed', 'The names of system users cannot be changed.')
  const disables = wish.disabled !== undefined && readFlag(wish.disabled, 'disabled') !== user.disabled
  if (disables && !isAdmin(caller)) throw denied(caller, 'disable or enable a user')
  if (disables && (user.id === caller.user.id || user.id.startsWith('_'))) {
    throw new InvalidInput('invalid-value', 'Users cannot disable themselves or a system user.')
  }
}

async function insertRequestedUser(
  writer: EntryWriter,
  id: string,
  resource: unknown,
  password: string | undefined,
): Promise<void> {
  const { tx } = writer
  if (resource === undefined) {
    await insertUser(tx, { id })
    return writer.record({ event: 'user-created', userId: id })
  }
  if (!isObject(resource))
    throw new InvalidInput('invalid-value', `\`resource\` of a user must be an object, but is ${jsonTypeOf(resource)}.`)
  const { name: givenName = '', homecontext, language, customProperties, disabled } = resource
  const name = requireName(requireText(givenName, 'name'))
  const homeContext =
    homecontext === undefined ? undefined : await requireHomeContext(tx, requireText(homecontext, 'homecontext'))
  const hasTemporaryPassword = readTemporary(resource)
  await insertUser(tx, { id, name, password, hasTemporaryPassword, homeContext })
  const user = await findUser(tx, id)
  const change: UserChange = {
    ...(language === undefined ? {} : { language: readLanguage(language) }),
    ...(customProperties === undefined ? {} : { customProperties: readProperties(customProperties, id) }),
    ...(disabled === undefined ? {} : { disabled: readFlag(disabled, 'disabled') }),
  }
  if (user && Object.keys(change).length > 0) await changeUser(tx, user, change)
  writer.record({ event: 'user-created', userId: id, userName: name })
}

/** The name in the same request, if any: no password may contain it. */
const requireOptionalName = ({ name }: Wish): string | undefined =>
  typeof name === 'string' ? requireName(name) : undefined
