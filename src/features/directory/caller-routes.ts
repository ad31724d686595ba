import { findPrincipalNamed, normaliseName } from '../../accounts/users.ts'
import { NotFound } from '../../base/errors.ts'
import { contextsOfCaller } from '../../content/context-list.ts'
import type { EntryViews } from '../../content/entry-view.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { choice, json, paging, requiredText, route } from '../../http/interface/route.ts'
import { named, object, optional, text } from '../../http/interface/schema.ts'
import { Graph, pageOf, Quota, rights } from '../../http/interface/shared-schemas.ts'
import { describeEntry } from '../../http/representations.ts'
import { contextAccesses } from '../../search/contexts-of-caller.ts'
import type { Database } from '../../stores/database.ts'

interface Services extends HttpServices {
  readonly database: Database
  readonly views: EntryViews
}

/** What users find without being administrators: their contexts, and others by their whole name. */
export const callerRoutes = [
  route({
    id: 'listContextsOfCaller',
    method: 'GET',
    url: '/auth/user/contexts',
    tokenScopes: ['read'],
    chapter: 'Sessions',
    summary:
      'List the contexts that the caller can write to, sorted by name. With `access=shared`, list the contexts of others that the caller can read or write to.',
    details: 'Administrators get all contexts except `_contexts` and `_principals`.',
    requires: { role: 'user', to: 'see which contexts you have access to' },
    query: {
      access: choice('Which contexts.', contextAccesses, 'write'),
      ...paging,
    },
    answers: {
      200: json(
        'A part of the list.',
        named(
          'ContextsOfCaller',
          pageOf(
            'contexts',
            object({
              contextId: text(),
              rights,
              name: optional(text()),
              quota: optional(Quota),
              metadata: optional(Graph),
            }),
          ),
        ),
      ),
    },
    handle: async ({ database, views, base }: Services, { caller, query }) => {
      const { total, contexts } = await contextsOfCaller(database, caller, query)
      const described = []
      for (const context of contexts) {
        const { name, quota, rights, metadata } = describeEntry(await views.of(caller, context, true), base)
        described.push({ contextId: context.entry.id, name, quota, rights, metadata })
      }
      const { limit, offset } = query
      return { contexts: described, results: total, limit, offset }
    },
  }),
  route({
    id: 'findPrincipal',
    method: 'GET',
    url: '/auth/principals',
    tokenScopes: ['read'],
    chapter: 'Sessions',
    summary: 'Find the user or group with exactly this name, to give it access.',
    details:
      'Names are compared as at sign-in. There is no search for parts of a name: only administrators can list users.',
    requires: { role: 'user', to: 'find users and groups by name' },
    query: { name: requiredText('The whole name.', { keywords: { maxLength: 256 } }) },
    answers: { 200: json('Its id.', named('FoundPrincipal', object({ id: text() }))) },
    refusals: { 404: ['not-found'] },
    handle: async ({ database }: Services, { query }) => {
      const id = await findPrincipalNamed(database, normaliseName(query.name))
      if (id === undefined) throw new NotFound('not-found', 'There is no user or group with this name.')
      return { id }
    },
  }),
]
