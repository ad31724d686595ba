import { isLinked } from '../../accounts/provider-links.ts'
import { denied, isAdmin, requireAdmin, type RequireFresh, requireNoToken } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { opensContext } from '../../accounts/token-scopes.ts'
import type { AuditEntry } from '../../accounts/audit.ts'
import type { Login } from '../../accounts/login.ts'
import type { PasswordRules } from '../../accounts/password-rules.ts'
import type { Passwords } from '../../accounts/passwords.ts'
import {
  changeUser,
  deletePrincipal,
  findUser,
  forgetWrongPasswords,
  GUEST,
  insertUser,
  requireName,
  type User,
  type UserChange,
} from '../../accounts/users.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import { forgetDevices } from '../../accounts/trusted-devices.ts'
import { Conflict, Forbidden, InvalidInput } from '../../base/errors.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { requireHomeContext } from '../contexts.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import { forgetUserQuota } from '../../files/quota-owners.ts'
import { userAcl } from '../../model/entry.ts'
import { PRINCIPALS } from '../../model/addresses.ts'
import { type AccessCheck, may } from '../../model/rights.ts'
import type { ResourceKind, ResourceReads } from '../resource-kind.ts'
import { getUser } from './user-reads.ts'
import { requireMayEnable } from './account-guards.ts'
import { joinGroup } from './group.ts'
import { isObject, jsonTypeOf } from '../../base/json.ts'
import { requirePasswordText, requireText } from '../values.ts'
import { readFlag, readLanguage, readProperties } from './user-members.ts'

export interface UserDependencies {
  readonly database: Database
  readonly changes: Changes
  readonly login: Login
  readonly passwords: Passwords
  readonly passwordRules: PasswordRules
  readonly sessions: Sessions
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
export function userKind(
  deps: UserDependencies,
  { requireCurrentPassword }: UserOptions,
  reads: ResourceReads,
): ResourceKind {
  const { database, changes, login, passwords, passwordRules, sessions, requireFresh } = deps

  const requireCurrent = async ({ user, client }: Caller, current: unknown): Promise<void> => {
    if (current === undefined || current === '') {
      throw new Forbidden('current-password-required', 'Send `currentPassword` together with `password`.')
    }
    await login.requireCurrentPassword(user, requirePasswordText(current, 'currentPassword'), client)
  }

  /** Whether users may replace their own password. @throws {Forbidden} */
  const requireMayReplace = async (caller: Caller, current: unknown): Promise<void> => {
    const { user } = caller
    login.requireAdmitted(user)
    if (requireCurrentPassword) return await requireCurrent(caller, current)
    // The account would outlive its end at the provider.
    if (user.password === undefined && (await isLinked(database, user.id)))
      throw new Forbidden('not-allowed', 'You sign in through an identity provider, so you have no password here.')
  }

  const newPassword = async (
    caller: Caller,
    user: User,
    wish: Wish,
  ): Promise<Pick<UserChange, 'password' | 'hasTemporaryPassword'>> => {
    const hasTemporaryPassword = readTemporary(wish)
    if (hasTemporaryPassword && isSelf(caller, user)) {
      throw new InvalidInput('invalid-value', 'Your own password cannot be temporary.')
    }
    if (wish.password === undefined) return {}
    if (user.id === GUEST) throw new Forbidden('not-allowed', 'The guest has no password.')
    const password = requirePasswordText(wish.password, 'password')
    if (isSelf(caller, user)) await requireMayReplace(caller, wish.currentPassword)
    passwordRules.require(password, [user.name, requireOptionalName(wish)])
    return { password: await passwords.hash(password), hasTemporaryPassword }
  }

  return {
    ...reads,
    isCreatable: true,
    home: PRINCIPALS,
    initialAcl: userAcl,
    naming: {
      isPublic: false,
      check: requireRenaming,
      find: async (queries, id) => (await findUser(queries, id))?.name,
      async set(writer, id, raw) {
        requireFresh(writer.caller)
        const user = await findUser(writer.tx, id)
        if (!user) return
        const { name } = await changeUser(writer.tx, user, { name: requireName(raw) })
        writer.record({ event: 'user-renamed', userId: user.id, userName: name })
      },
    },
    async prepare({ resource }, caller) {
      if (!isObject(resource) || resource['password'] === undefined) return undefined
      // As for a change of password: a user with a known password would outlive the access token.
      requireNoToken(caller, 'create a user with a password')
      requireFresh(caller)
      const password = requirePasswordText(resource['password'], 'password')
      passwordRules.require(password, [requireOptionalName(resource)])
      return await passwords.hash(password)
    },
    async create(writer, making) {
      const { entry, request, body, hash } = making
      await insertRequestedUser(writer, entry.id, body.resource, hash)
      for (const group of request.groupUris) await joinGroup(writer, making, group, requireFresh)
      return entry
    },
    /**
     * Applies all of the request or nothing (D5.4). The right is checked before the current password, so that a caller cannot
     * test another user's password here (D5.3).
     */
    async write(caller, target, body, { entry: precondition }) {
      const user = await getUser(database, target.entry.id)
      mayChange(caller, target)
      const wish = readWish(await body.json())
      requireAllowed(caller, user, wish)
      if (!isSelf(caller, user) || members.some(member => isCritical(member) && wish[member] !== undefined)) {
        requireFresh(caller)
      }
      const change = {
        ...(await readChange(database, wish, user.id)),
        ...(await newPassword(caller, user, wish)),
      }
      // A user who changes their own password keeps the session in which they do it.
      const own = isSelf(caller, user) && change.password !== undefined ? caller.session : undefined
      const conditions = { check: mayChange, precondition }
      const entry = await changes.change(caller, target, conditions, async (entry, writer) => {
        const { tx } = writer
        const now = await getUser(tx, entry.id)
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
        await refusingTakenName(changeUser(tx, now, change, own?.token))
        for (const event of eventsOf(now, change)) writer.record(event)
        return entry
      })
      // The new epoch has already ended the other sessions; this deletes them from the store.
      if (change.password !== undefined || change.disabled) await sessions.clearAway(user.id, own)
      return { entry }
    },
    async remove(writer, { id }) {
      requireFresh(writer.caller)
      const user = await findUser(writer.tx, id)
      await forgetUserQuota(writer.tx, id)
      await deletePrincipal(writer.tx, id)
      if (user) writer.record({ event: 'user-deleted', userId: id, userName: user.name })
    },
    async removed({ id }) {
      await sessions.clearAway(id)
    },
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

/** The operator is not the user admin, whose rights they have. */
const isSelf = (caller: Caller, { id }: { readonly id: string }): boolean =>
  id === caller.user.id && id !== GUEST && !caller.isOperator

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
    throw new InvalidInput(
      'invalid-value',
      `Nobody can disable ${user.id.startsWith('_') ? `the system user ${user.name}` : 'their own account'}.`,
    )
  }
}

async function readChange(queries: Queries, wish: Wish, userId: string): Promise<UserChange> {
  const { name, disabled, language, homecontext, customProperties } = wish
  return {
    ...(name === undefined ? {} : { name: requireName(requireText(name, 'name')) }),
    ...(disabled === undefined ? {} : { disabled: readFlag(disabled, 'disabled') }),
    ...(language === undefined ? {} : { language: readLanguage(language) }),
    ...(homecontext === undefined ? {} : { homeContext: await readHomeContext(queries, homecontext) }),
    ...(customProperties === undefined ? {} : { customProperties: readProperties(customProperties, userId) }),
  }
}

async function readHomeContext(queries: Queries, value: unknown): Promise<string | undefined> {
  const given = requireText(value, 'homecontext')
  return given === '' ? undefined : await requireHomeContext(queries, given)
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
  const { name = '', homeContext, ...change } = await readChange(tx, { name: '', ...resource }, id)
  const hasTemporaryPassword = readTemporary(resource)
  await insertUser(tx, { id, name, password, hasTemporaryPassword, homeContext })
  const user = await findUser(tx, id)
  if (user && Object.keys(change).length > 0) await changeUser(tx, user, change)
  writer.record({ event: 'user-created', userId: id, userName: name })
}

/** The name in the same request, if any: no password may contain it. */
const requireOptionalName = ({ name }: Wish): string | undefined =>
  typeof name === 'string' ? requireName(name) : undefined

/** Clients of this address know 400 for it; only the addresses of names have 409. */
async function refusingTakenName<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Conflict) || error.code !== 'name-taken') throw error
    throw new InvalidInput('invalid-name', error.message, { cause: error })
  }
}
