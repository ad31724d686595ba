import { quotaObject } from '../../files/quota-ledger.ts'
import { listGroups, listUsers } from '../../accounts/directory.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { User } from '../../accounts/users.ts'
import { NotFound } from '../../base/errors.ts'
import { contextOrders, listContexts } from '../../content/context-list.ts'
import { personalDataOf } from '../../content/provisioning.ts'
import { findByName, titleOrEmailQuery } from '../search/find-by-name.ts'
import { describeEntry } from '../../http/representations.ts'
import { json, choice, paging, textParameter, route } from '../../http/interface/route.ts'
import { flag, named, object, optional, text } from '../../http/interface/schema.ts'
import { count, Graph, pageOf, Quota, time } from '../../http/interface/shared-schemas.ts'
import type { Audit } from '../../accounts/audit.ts'
import { userLockoutKey, type Lockout } from '../../accounts/lockout.ts'
import type { EntryViews } from '../../content/entry-view.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Database } from '../../stores/database.ts'
import type { Search } from '../search/search.ts'
import { isoTime } from '../../base/times.ts'

const portion = {
  query: textParameter('Part of a name or an id, in upper or lower case.', { keywords: { maxLength: 256 } }),
  ...paging,
}
const chapter = 'Status and administration'

interface Services extends HttpServices {
  readonly audit: Audit
  readonly database: Database
  readonly ledger: Ledger
  readonly lockout: Lockout
  readonly search: Search
  readonly views: EntryViews
}

/** Lists of users, groups and contexts in pages, for administrators. */
export const directoryRoutes = [
  route({
    id: 'listUsers',
    method: 'GET',
    url: '/management/users',
    chapter,
    summary: 'List the users by name.',
    details:
      '`fullName` and `email` come from their metadata, `lastSignIn` from the audit log. `quota` is that of the home context.',
    requires: { role: 'admin', to: 'list the users' },
    query: {
      ...portion,
      query: textParameter('Part of a name, an id, a full name or an e-mail address, in upper or lower case.', {
        keywords: { maxLength: 256 },
      }),
    },
    answers: {
      200: json(
        'A part of the list.',
        named(
          'UserList',
          pageOf(
            'users',
            object({
              id: text(),
              disabled: flag,
              hasPassword: flag,
              name: optional(text()),
              homecontext: optional(text()),
              lockedUntil: optional(time),
              fullName: optional(text()),
              email: optional(text()),
              lastSignIn: optional(time),
              quota: optional(Quota),
            }),
          ),
        ),
      ),
    },
    handle: async (deps: Services, { caller, query }) => {
      const { database } = deps
      const { total, items } = await listUsers(database, query, await findIdsByTitle(deps, caller, 'User', query.query))
      const users = []
      for (const user of items) users.push(await describeUser(deps, user))
      return { users, results: total, limit: query.limit, offset: query.offset }
    },
  }),
  route({
    id: 'listGroups',
    method: 'GET',
    url: '/management/groups',
    chapter,
    summary: 'List the groups by name, with the number of their members.',
    details: '`fullName` comes from their metadata.',
    requires: { role: 'admin', to: 'list the groups' },
    query: portion,
    answers: {
      200: json(
        'A part of the list.',
        named(
          'GroupList',
          pageOf('groups', object({ id: text(), members: count, name: optional(text()), fullName: optional(text()) })),
        ),
      ),
    },
    handle: async ({ database }: Services, { query }) => {
      const { total, items } = await listGroups(database, query)
      const groups = []
      for (const group of items) groups.push({ ...group, fullName: (await personalDataOf(database, group.id)).name })
      return { groups, results: total, limit: query.limit, offset: query.offset }
    },
  }),
  route({
    id: 'listContexts',
    method: 'GET',
    url: '/management/contexts',
    chapter,
    summary: 'List all contexts except `_contexts` and `_principals`, with their quota and number of files.',
    requires: { role: 'admin', to: 'list the contexts' },
    query: {
      ...portion,
      query: textParameter('Part of a name, an id or a title, in upper or lower case.', {
        keywords: { maxLength: 256 },
      }),
      sort: choice(
        '`fullness`: the least space in relation to the quota first, then those without a quota; `used`: the most bytes first.',
        contextOrders,
        'name',
      ),
    },
    answers: {
      200: json(
        'A part of the list.',
        named(
          'ContextList',
          pageOf(
            'contexts',
            object({
              contextId: text(),
              name: optional(text()),
              quota: optional(Quota),
              files: optional(count),
              metadata: optional(Graph),
            }),
          ),
        ),
      ),
    },
    handle: async (deps: Services, { caller, query }) => {
      const { database, ledger, views, base } = deps
      const { total, items } = await listContexts(
        database,
        ledger,
        query,
        await findIdsByTitle(deps, caller, 'Context', query.query),
      )
      const contexts = []
      for (const item of items) {
        const { name, quota, metadata } = describeEntry(await views.of(caller, item, true), base)
        const { id } = item.entry
        const usage = ledger.enforced ? await ledger.usage.find(database, { kind: 'context', id }) : undefined
        contexts.push({ contextId: id, name, quota, files: usage?.used.files, metadata })
      }
      return { contexts, results: total, limit: query.limit, offset: query.offset }
    },
  }),
]

/** Ids of the users whose full name or e-mail address contains a text, or of the contexts whose title does. */
async function findIdsByTitle(
  deps: Services,
  caller: Caller,
  type: 'User' | 'Context',
  text: string | undefined,
): Promise<readonly string[]> {
  return (await findByName(deps, caller, text, titleOrEmailQuery(type))).map(({ id }) => id)
}

const unlessDeleted = (error: unknown): undefined => {
  if (!(error instanceof NotFound)) throw error
}

async function describeUser({ audit, database, ledger, lockout }: Services, user: User) {
  const lockedUntil = await lockout.lockedUntil(userLockoutKey(user))
  const { name: fullName, email } = await personalDataOf(database, user.id)
  const home = user.homeContext
  // The home context may have been deleted.
  const quota =
    home !== undefined && ledger.enforced ? await ledger.quotaOf(database, home).catch(unlessDeleted) : undefined
  return {
    id: user.id,
    name: user.name,
    disabled: user.disabled,
    hasPassword: user.password !== undefined,
    homecontext: user.homeContext,
    lockedUntil: isoTime(lockedUntil),
    fullName,
    email,
    lastSignIn: isoTime(await audit.lastSignIn(user.id)),
    quota: quota && quotaObject(quota),
  }
}
