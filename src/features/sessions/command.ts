import { isCurrent, type Session } from '../../accounts/sessions.ts'
import { handleOf } from '../../accounts/tokens.ts'
import { endOtherSessions } from '../../accounts/users.ts'
import { NotFound, StartupError } from '../../base/errors.ts'
import { isoTime } from '../../base/times.ts'
import { type Answer, type Call, family, table } from '../../core/operator-command.ts'
import type { Program } from '../../core/command.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import { userNamed } from '../../core/operator-users.ts'

export const sessionCommand = (program: Program) =>
  family(program, 'session', 'Lists the sessions of users and ends them, also while the service runs.', {
    list: { further: ['NAME'], run: list },
    end: { words: ['NAME'], options: ['session'], run: end },
  })

async function list(store: OperatorStore, { words: [name] }: Call): Promise<Answer> {
  const { sessions } = requireVisible(store)
  const found =
    name === undefined
      ? await current(store, await sessions.listAll())
      : await sessions.list(await userNamed(store, name))
  const described = []
  for (const one of found) {
    const user = (await store.users.find(one.userId))?.user
    described.push({
      id: handleOf(one),
      user: user?.name ?? one.userId,
      signedIn: isoTime(one.loginTime),
      lastAccess: isoTime(Math.max(one.lastAccess, one.loginTime)),
      expires: isoTime(one.expires),
      address: one.client.address,
      userAgent: one.client.userAgent,
    })
  }
  const rows = described.map(({ id, user, signedIn, lastAccess, address }) => [id, user, signedIn, lastAccess, address])
  return { json: described, lines: table([['SESSION', 'USER', 'SIGNED-IN', 'LAST-ACCESS', 'ADDRESS'], ...rows]) }
}

/** All sessions of a user end in the database, so also those in the memory of a service. */
async function end(store: OperatorStore, { words: [name], option }: Call): Promise<Answer> {
  const user = await userNamed(store, name)
  const handle = option('session')
  const event = { event: 'token-removed', userId: user.id, userName: user.name } as const
  if (handle === undefined) {
    await store.changes.run(undefined, async writer => {
      await endOtherSessions(writer.tx, user.id, undefined)
      writer.record({ ...event, detail: { scope: 'all' } })
    })
    await store.sessions.clearAway(user.id)
    return { json: { user: user.name, scope: 'all' }, lines: [`All sessions of ${user.name ?? user.id} have ended.`] }
  }
  const { sessions } = requireVisible(store)
  const found = await sessions.findByHandle(handle)
  if (!found || found.userId !== user.id || !(await sessions.end(found.token)))
    throw new NotFound('unknown-token', `${user.name ?? user.id} has no session "${handle}". List them first.`)
  await store.audit.record({ ...event, detail: { scope: 'one' } })
  return { json: { user: user.name, session: handle }, lines: ['The session has ended.'] }
}

/** @throws {StartupError} */
function requireVisible(store: OperatorStore): OperatorStore {
  if (store.seesSessions) return store
  throw new StartupError(
    'Sessions are in the memory of the service (service.auth.token.store=memory), which alone can list them: use the page Administration. `stowage session end NAME` ends all of a user.',
  )
}

async function current({ users }: OperatorStore, sessions: readonly Session[]): Promise<Session[]> {
  const live: Session[] = []
  for (const one of sessions) {
    const user = (await users.find(one.userId))?.user
    if (user && !user.disabled && isCurrent(one, user)) live.push(one)
  }
  return live
}
