import { listGroups, listUsers } from '../../accounts/directory.ts'
import type { Caller } from '../../accounts/caller.ts'
import { countedUser } from '../../accounts/lockout.ts'
import type { User } from '../../accounts/users.ts'
import { NotFound } from '../../base/errors.ts'
import { contextOrders, listContexts } from '../../content/context-list.ts'
import { personalDataOf } from '../../content/provisioning.ts'
import { parseQuery } from '../../search/query.ts'
import { describeEntry } from '../representations.ts'
import { json, choice, paging, textParameter, route } from '../interface/route.ts'
import { flag, named, object, optional, text } from '../interface/schema.ts'
import { count, Graph, partOf, Quota, time } from '../interface/schemas.ts'
import type { Uses } from '../services.ts'
import { isoTime } from '../../base/times.ts'

const portion = {
  query: textParameter('Part of a name or an id, in upper or lower case.', { keywords: { maxLength: 256 } }),
  ...paging,
}
const chapter = 'Status and administration'

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
          partOf(
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
    handle: async (deps: Uses<'audit' | 'base' | 'database' | 'ledger' | 'lockout' | 'search'>, { caller, query }) => {
      const { database } = deps
      const { total, items } = await listUsers(database, query, await describedAs(deps, caller, 'User', query.query))
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
          partOf('groups', object({ id: text(), members: count, name: optional(text()), fullName: optional(text()) })),
        ),
      ),
    },
    handle: async ({ database }: Uses<'database'>, { query }) => {
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
    summary: 'List the contexts with their quota and number of files, all but `_contexts` and `_principals`.',
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
          partOf(
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
    handle: async (deps: Uses<'database' | 'ledger' | 'views' | 'base' | 'search'>, { caller, query }) => {
      const { database, ledger, views, base } = deps
      const { total, items } = await listContexts(
        database,
        ledger,
        query,
        await describedAs(deps, caller, 'Context', query.query),
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

/** How many users or contexts are found by what their metadata say. */
const MAX_DESCRIBED = 100

/** Ids of the users whose full name or e-mail address contains a text, or of the contexts whose title does. */
async function describedAs(
  { base, search }: Uses<'base' | 'search'>,
  caller: Caller,
  type: 'User' | 'Context',
  text: string | undefined,
): Promise<readonly string[]> {
  if (text === undefined || text.trim() === '') return []
  const words = text.trim().replaceAll(/[^\p{L}\p{N}]/gu, sign => `\\${sign}`)
  const { hits } = await search.find(caller, {
    query: parseQuery(`graphType:${type} AND (title:*${words}* OR email:*${words}*)`),
    filters: [],
    limit: MAX_DESCRIBED,
    offset: 0,
    order: [],
    facets: { fields: [], minCount: 1, limit: 0, missing: false, matches: undefined },
    toRelative: iri => base.toRelative(iri),
    toAbsolute: iri => base.toAbsolute(iri),
  })
  return hits.map(({ entry }) => entry.id)
}

const unlessDeleted = (error: unknown): undefined => {
  if (!(error instanceof NotFound)) throw error
}

async function describeUser(
  { audit, database, ledger, lockout }: Uses<'audit' | 'database' | 'ledger' | 'lockout'>,
  user: User,
) {
  const lockedUntil = await lockout.lockedUntil(countedUser(user))
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
    quota,
  }
}
