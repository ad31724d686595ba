import { ADMIN, ADMINS, findUserByName, GUEST, liftLockout, normaliseName, type User } from '../accounts/users.ts'
import type { OperatorStore } from './store-for-commands.ts'
import { InvalidInput } from '../base/errors.ts'
import { localEntry } from '../content/creation.ts'
import { addMember } from '../content/kinds/group.ts'
import type { ResourceBody } from '../content/resource-kind.ts'
import { entryUri, PRINCIPALS } from '../model/addresses.ts'
import { type Answer, type Call, table } from '../core/operator-command.ts'
import { everybody, userNamed } from '../core/operator-users.ts'
import { family } from './operator-command.ts'
import { readPassword } from '../core/password-input.ts'

export const user = family('user', 'Lists and changes users, also while the service runs.', {
  list: { run: list },
  add: { words: ['NAME'], flags: ['password', 'temporary', 'admin'], makesStoreWith: 'admin', run: add },
  password: { words: ['NAME'], flags: ['temporary'], run: setPassword },
  disable: { words: ['NAME'], run: (store, call) => setDisabled(store, call, true) },
  enable: { words: ['NAME'], run: (store, call) => setDisabled(store, call, false) },
  delete: { words: ['NAME'], run: remove },
})

const described = ({ id, name, disabled, password, hasTemporaryPassword, hasSecondFactor, homeContext }: User) => ({
  id,
  name: name ?? null,
  disabled,
  hasPassword: password !== undefined,
  hasTemporaryPassword,
  hasSecondFactor,
  homeContext: homeContext ?? null,
})

async function list(store: OperatorStore): Promise<Answer> {
  const users: User[] = []
  for await (const user of everybody(store)) users.push(user)
  const state = (user: User): string => (user.disabled ? 'disabled' : user.password === undefined ? 'no password' : '')
  const rows = users.map(user => [user.id, user.name ?? '', state(user)])
  return { json: users.map(described), lines: table([['ID', 'NAME', 'STATE'], ...rows]) }
}

async function add(store: OperatorStore, { words: [name = ''], has }: Call): Promise<Answer> {
  const isSet = has('password') || has('temporary')
  const secret = isSet ? { password: await readPassword(), temporaryPassword: has('temporary') } : {}
  const isAdmin = has('admin')
  const present = isAdmin ? await findUserByName(store.database, normaliseName(name)) : undefined
  if (present) return await resetAdmin(store, present, secret)
  const groupUris = isAdmin ? [entryUri({ context: PRINCIPALS, id: ADMINS })] : []
  const request = { ...localEntry('User', () => ({ resource: { name, ...secret } })), groupUris }
  const { id } = await store.creation.create(store.caller, PRINCIPALS, request)
  return await changed(store, name, `is created with the id ${id}${isSet ? '' : ', without a password'}.`)
}

/** Lets the user sign in as an administrator, whatever kept them from it, except that they have lost their second factor. */
async function resetAdmin(store: OperatorStore, user: User, secret: object): Promise<Answer> {
  const { changes, caller } = store
  if (user.id === GUEST) throw new InvalidInput('invalid-member', 'The guest cannot be an administrator.')
  await change(store, user, { disabled: false, ...secret })
  await changes.run(caller, async writer => {
    if (user.id !== ADMIN) await addMember(writer, ADMINS, user.id)
    await liftLockout(writer.tx, user.id)
    writer.record({ event: 'unlocked', userId: user.id, userName: user.name })
  })
  const isNew = 'password' in secret
  // The first administrator of a store that this command has made has no sessions.
  const ended = user.id === ADMIN && user.password === undefined ? '' : '. Their sessions have ended'
  const password = isNew ? ` with a new password${ended}` : ''
  const { hasSecondFactor, name = user.id } = user
  const factor = hasSecondFactor ? ` They have a second factor: \`stowage remove-factors ${name}\` removes it.` : ''
  return await changed(store, user.name, `can sign in as an administrator${password}.${factor}`)
}

async function setPassword(store: OperatorStore, { words: [name], has }: Call): Promise<Answer> {
  const user = await userNamed(store, name)
  await change(store, user, { password: await readPassword(), temporaryPassword: has('temporary') })
  return await changed(store, name, 'has a new password. Their sessions have ended.')
}

async function setDisabled(store: OperatorStore, { words: [name] }: Call, disabled: boolean): Promise<Answer> {
  await change(store, await userNamed(store, name), { disabled })
  return await changed(store, name, disabled ? 'is disabled. Their sessions have ended.' : 'is enabled.')
}

async function remove(store: OperatorStore, { words: [name] }: Call): Promise<Answer> {
  const user = await userNamed(store, name)
  await store.entries.delete(store.caller, { context: PRINCIPALS, entry: user.id }, () => {})
  return { json: described(user), lines: [`${user.name ?? user.id} is deleted.`] }
}

async function change(store: OperatorStore, { id }: User, resource: unknown): Promise<void> {
  const other = (): never => {
    throw new TypeError('a user is written as JSON')
  }
  const body: ResourceBody = { json: async () => resource, text: other, graph: other, upload: other }
  const conditions = { entry: () => {}, file: () => {} }
  await store.resources.write(store.caller, { context: PRINCIPALS, entry: id }, body, conditions)
}

async function changed(store: OperatorStore, name: string | undefined, what: string): Promise<Answer> {
  const user = await userNamed(store, name)
  return { json: described(user), lines: [`${user.name ?? user.id} ${what}`] }
}
