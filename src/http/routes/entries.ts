import { findUser } from '../../accounts/users.ts'
import { isoTime } from '../../base/times.ts'
import { entryUri } from '../../model/addresses.ts'
import {
  isFresh,
  preconditionOf,
  sendChanged,
  describeEntry,
  answerFormat,
  embeddedFormat,
  embeddedGraphs,
  graphReader,
  isPlainJson,
  mediaTypes,
  representationFor,
  sendStoredGraph,
} from '../representations.ts'
import { content, done, json, unchanged, flagParameter, route } from '../interface/route.ts'
import { jsonBody, streamedBody } from '../interface/bodies.ts'
import { list, named, object, optional, text } from '../interface/schema.ts'
import { Entry as EntrySchema, Json, Name, time } from '../interface/schemas.ts'
import { pagingOf, pagingQuery } from '../list-paging.ts'
import type { Uses } from '../services.ts'

/** The body of a request that replaces a graph. */
export const graphBody = streamedBody(mediaTypes, { schema: Json, example: {} })

/** A graph in any syntax, as a response. */
export const graphAnswer = (description: string) => content(description, mediaTypes, Json)

const chapter = 'Entries'
const MAX_ACTIVITY = 100

/** Entries: the whole entry, info, name, deletion (W3.3, W3.4). */
export const entryRoutes = [
  route({
    id: 'readEntry',
    method: 'GET',
    url: '/:context/entry/:entry',
    chapter,
    summary: 'Read an entry: its info, and what else the caller may read of it.',
    access: 'callers with any right on the entry; with `service.repository.public-info=on` all callers',
    details: 'In a syntax of RDF other than JSON the response is the info alone.',
    query: {
      includeAll: flagParameter('With metadata, relations, rights and resource, as far as the caller may read them.'),
      ...pagingQuery,
      rdfFormat: embeddedFormat,
      format: answerFormat,
    },
    answers: { 200: content('The entry.', mediaTypes, EntrySchema), 304: unchanged },
    refusals: { 401: [], 403: ['not-allowed'], 404: [], 406: ['not-acceptable'] },
    conditional: 'read',
    compressible: true,
    handle: async (deps: Uses<'base' | 'views'>, { request, reply, caller, params, query }) => {
      const representation = representationFor(request, reply)
      const form = embeddedGraphs(request)
      if (!isPlainJson(representation)) {
        // In a syntax of RDF an entry is its info (W3.3.1).
        const { entry, view } = await deps.views.read(caller, params, false)
        if (isFresh(request, reply, entry, representation)) return reply.status(304).send()
        return await sendStoredGraph(deps.base, reply, representation, view.info)
      }
      const { entry, view } = await deps.views.read(caller, params, query.includeAll, pagingOf(query))
      const isCurrent = isFresh(request, reply, entry)
      // Rights and the fill level change without the entry, so a 304 could keep an outdated view.
      const isTheSameForAll = !query.includeAll && view.quota === undefined
      if (isCurrent && isTheSameForAll) return reply.status(304).send()
      return describeEntry(view, deps.base, form)
    },
  }),
  route({
    id: 'listAccess',
    method: 'GET',
    url: '/:context/access/:entry',
    chapter,
    summary: 'Read the names of the users and groups in the access lists of an entry and its context.',
    access: 'users who administer the entry',
    answers: {
      200: json(
        'The users and groups.',
        named(
          'AccessNames',
          object({
            principals: list(object({ id: text(), name: optional(text()), fullName: optional(text()) })),
          }),
        ),
      ),
    },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ entries }: Uses<'entries'>, { caller, params }) => ({
      principals: await entries.listAccess(caller, params),
    }),
  }),
  route({
    id: 'listActivity',
    method: 'GET',
    url: '/:context/activity/:entry',
    chapter,
    summary: 'Read the latest 100 events about an entry in the audit log, the latest first.',
    access: 'users who administer the entry',
    answers: {
      200: json(
        'The events.',
        named(
          'Activity',
          object({
            events: list(object({ time, event: text(), by: optional(text()), byName: optional(text()) })),
          }),
        ),
      ),
    },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ audit, database, entries }: Uses<'audit' | 'database' | 'entries'>, { caller, params }) => {
      const entry = await entries.get(caller, params, 'administer', 'read what happened to this entry')
      const events = await audit.list({ place: `${entry.context}/${entry.id}`, limit: MAX_ACTIVITY })
      const names = new Map<string | undefined, string | undefined>()
      for (const actor of new Set(events.flatMap(({ actorId }) => actorId ?? []))) {
        names.set(actor, (await findUser(database, actor))?.name)
      }
      // Not the addresses of clients, which are for administrators.
      const describe = ({ time, event, actorId: by }: (typeof events)[number]) => ({
        time: isoTime(time),
        event,
        by,
        byName: names.get(by),
      })
      return { events: events.map(describe) }
    },
  }),
  route({
    id: 'writeInfo',
    method: 'PUT',
    url: '/:context/entry/:entry',
    chapter,
    summary: 'Replace the info of an entry, with its access list. What is left out is removed.',
    access: 'users who administer the entry',
    details: 'Dates and addresses are kept by the service.',
    query: {
      applyACLtoChildren: flagParameter(
        'On a list: gives its access list to all entries in it, lists inside included. Those that were added by people who did not administer them are passed over; the caller must administer all others, at most 10,000.',
      ),
    },
    body: graphBody,
    answers: { 204: done },
    refusals: {
      400: ['invalid-graph', 'invalid-json', 'invalid-uri', 'invalid-value'],
      401: [],
      403: [],
      404: [],
      409: ['last-owner'],
      413: ['list-too-large'],
    },
    conditional: 'write',
    handle: async (deps: Uses<'base' | 'bodies' | 'entries' | 'graphs'>, { request, reply, caller, params, query }) => {
      const read = graphReader(deps, request, reply, entryUri)
      const condition = preconditionOf(request)
      return sendChanged(reply, await deps.entries.putInfo(caller, params, read, condition, query.applyACLtoChildren))
    },
  }),
  route({
    id: 'deleteEntry',
    method: 'DELETE',
    url: '/:context/entry/:entry',
    chapter,
    summary: 'Delete an entry with its metadata and its resource; a context with all entries in it.',
    access: 'users who administer the entry; `recursive`: users who administer the context',
    query: { recursive: flagParameter('On a list: deletes all entries in it as well, at most 10,000.') },
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: [], 413: ['list-too-large'] },
    conditional: 'write',
    handle: async (deps: Uses<'entries'>, { request, reply, caller, params, query }) => {
      await deps.entries.delete(caller, params, preconditionOf(request), query.recursive)
      return await reply.status(204).send()
    },
  }),
  route({
    id: 'readName',
    method: 'GET',
    url: '/:context/entry/:entry/name',
    chapter,
    summary: 'Read the name of a user, group or context.',
    access: 'all callers for contexts, else callers who can read the metadata',
    path: { context: { example: '_contexts' }, entry: { example: 'photos' } },
    answers: { 200: json('The name.', Name) },
    refusals: { 401: [], 403: [], 404: ['not-found'] },
    handle: async ({ entries }: Uses<'entries'>, { caller, params }) => ({
      name: await entries.getName(caller, params),
    }),
  }),
  route({
    id: 'rename',
    method: 'PUT',
    url: '/:context/entry/:entry/name',
    chapter,
    summary: 'Change the name of a user, group or context. An empty name removes it.',
    access: 'callers who can write the resource; for users administrators',
    path: { context: { example: '_contexts' }, entry: { example: 'photos' } },
    body: jsonBody(Name, { example: { name: 'Photos' } }),
    answers: { 204: done },
    refusals: { 400: ['invalid-name', 'invalid-type'], 401: [], 403: [], 404: [], 409: ['name-taken'] },
    handle: async ({ entries }: Uses<'entries'>, { reply, caller, params, body }) =>
      sendChanged(reply, await entries.rename(caller, params, async () => (await body()).name)),
  }),
]
