import type { Audit, AuditEntry } from '../../src/accounts/audit.ts'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import type { Session } from '../../src/accounts/sessions.ts'
import { changeUser, findUser, insertUser, type User } from '../../src/accounts/users.ts'
import type { Database } from '../../src/stores/database.ts'

export const client = { address: '192.0.2.7', userAgent: 'test' }

/** An audit log that keeps what was written and what was announced. */
export function keptAudit() {
  const inserted: AuditEntry[] = []
  const announced: AuditEntry[] = []
  const audit = {
    insert: async (_tx: unknown, entry: AuditEntry) => void inserted.push(entry),
    announce: (entry: AuditEntry) => void announced.push(entry),
    record: async (entry: AuditEntry) => {
      inserted.push(entry)
      announced.push(entry)
    },
  } as unknown as Audit
  return { audit, inserted, announced }
}

/** A user in the database, with `nora` as name and `hash` as stored password unless something else is given. */
export async function storedUser(
  database: Database,
  id: string,
  { name = 'nora', hasTemporaryPassword = false } = {},
): Promise<User> {
  await database.transaction(tx => insertUser(tx, { id, name, password: 'hash', hasTemporaryPassword }))
  return await presentUser(database, id)
}

export async function presentUser(database: Database, id: string): Promise<User> {
  const user = await findUser(database, id)
  if (!user) throw new Error(`no user ${id}`)
  return user
}

export async function disable(database: Database, user: User): Promise<void> {
  await database.transaction(tx => changeUser(tx, user, { disabled: true }))
}

export function sessionOf(user: User, values: Partial<Session> = {}): Session {
  const token = `token-of-${user.id}`
  const times = { loginTime: 0, lastAccess: 0, expires: Number.MAX_SAFE_INTEGER, maxAge: 60, cookieSent: 0 }
  return { token, id: token, userId: user.id, epoch: user.epoch, ...times, endsWithBrowser: false, client, ...values }
}

export const callerOf = (user: User, session?: Session): Caller => ({
  ...guestFrom(client),
  user,
  ...(session && { session }),
})
