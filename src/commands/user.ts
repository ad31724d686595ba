import { listUsers } from '../accounts/directory.ts'
import { findUserByName, normaliseName, type User } from '../accounts/users.ts'
import type { OperatorStore } from '../assembly/operator.ts'
import { NotFound } from '../base/errors.ts'
import { localEntry } from '../content/creation.ts'
import type { ResourceBody } from '../content/resource-kind.ts'
import { PRINCIPALS } from '../model/addresses.ts'
import { type Answer, type Call, family, table } from './operator-command.ts'
import { readPassword } from './password-input.ts'

const PAGE = 1000

export const user = family('user', 'Lists and changes users, also while the service runs.', {
  list: { run: list },
  add: { words: ['NAME'], flags: ['password', 'temporary'], run: add },
  password: { words: ['NAME'], flags: ['temporary'], run: setPassword },
  disable: { words: ['NAME'], run: (store, call) => setDisabled(store, call, true) },
  enable: { words: ['NAME'], run: (store, call) => setDisabled(store, call, false) },
  delete: { words: ['NAME'], run: remove },
})

/** @throws {NotFound} */
export async function userNamed({ database }: OperatorStore, name = ''): Promise<User> {
  const user = await findUserByName(database, normaliseName(name))
  if (!user) throw new NotFound('not-found', `There is no user "${name}". \`stowage user list\` lists all.`)
  return user
}

/** All users, by name. */
export async function* everybody({ database }: OperatorStore): AsyncIterable<User> {
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await listUsers(database, { query: undefined, limit: PAGE, offset })
    yield* items
    if (items.length < PAGE) return
  }
}

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
  const request = localEntry('User', () => ({ resource: { name, ...secret } }))
  const { id } = await store.creation.create(store.caller, PRINCIPALS, request)
  return await changed(store, name, `is created with the id ${id}${isSet ? '' : ', without a password'}.`)
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
