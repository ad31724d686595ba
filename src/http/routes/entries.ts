import type { HttpServices } from '../http-services.ts'
import type { AccessReads } from '../../content/access-reads.ts'
import type { Audit } from '../../accounts/audit.ts'
import type { Database } from '../../stores/database.ts'
import type { Entries } from '../../content/entries.ts'
import type { GraphReader } from '../../graph/graph-reader.ts'
import { findUser } from '../../accounts/users.ts'
import { isoTime } from '../../base/times.ts'
import { CONTEXTS, entryUri, PRINCIPALS } from '../../model/addresses.ts'
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
  sendGraph,
} from '../representations.ts'
import {
  redirect,
  content,
  done,
  json,
  unchanged,
  flagParameter,
  requiredText,
  route,
  textParameter,
} from '../interface/route.ts'
import { jsonBody, streamedBody } from '../interface/bodies.ts'
import { MAX_PREVIEWED } from '../../content/access-reads.ts'
import { flag, list, named, object, optional, text } from '../interface/schema.ts'
import { count, Entry as EntrySchema, Json, Name, NewName, time } from '../interface/shared-schemas.ts'
import { pagingOf, pagingQuery } from '../list-paging.ts'
import { heavyEntry } from '../heavy-by-entry.ts'
import type { Reads } from '../read-services.ts'

interface Services extends HttpServices {
  readonly accessReads: AccessReads
  readonly audit: Audit
  readonly database: Database
  readonly entries: Entries
  readonly graphs: GraphReader
}

/** The body of a request that replaces a graph. */
export const graphBody = streamedBody(mediaTypes, { schema: Json, example: {} })

/** A graph in any syntax, as a response. */
export const graphAnswer = (description: string) => content(description, mediaTypes, Json)

const chapter = 'Entries'

const ids = optional(list(text()))
const aclIds = { admin: ids, rread: ids, rwrite: ids, mread: ids, mwrite: ids }
const People = named('People', object({ users: count, isEverybody: flag }))
const MAX_ACTIVITY = 100

/** Users and groups have a page for administrators only. */
function pageOfEntry({ context = '', entry = '' }: Readonly<Record<string, string>>): string | undefined {
  if (context === PRINCIPALS) return undefined
  const of = (id: string): string => `ui/contexts/${encodeURIComponent(id)}/files`
  return context === CONTEXTS ? of(entry) : `${of(context)}?item=${encodeURIComponent(entry)}`
}

/** An entry as its readers see it (W3.3, W3.4). */
export const entryReadRoutes = [
  route({
    id: 'readEntry',
    method: 'GET',
    url: '/:context/entry/:entry',
    chapter,
    summary: 'Read an entry: its info, and what else the caller may read of it.',
    access: 'callers with any right on the entry; with `service.repository.public-info=on` all callers',
    details:
      'A response in JSON has the members below; send `Accept: application/json`, `includeAll` or `rdfFormat` to get it. In any other syntax the response is the graph of the info alone; without a preferred type this is RDF/XML.',
    query: {
      includeAll: flagParameter('Adds metadata, relations, rights and resource, as far as the caller may read them.'),
      ...pagingQuery,
      rdfFormat: embeddedFormat,
      format: answerFormat,
    },
    answers: {
      200: content('The entry.', mediaTypes, EntrySchema),
      303: redirect('To the page about it, for a browser that opens the address without a query.'),
      304: unchanged,
    },
    refusals: { 401: [], 403: ['not-allowed'], 404: [], 406: ['not-acceptable'] },
    conditional: 'read',
    compressible: true,
    heavy: heavyEntry,
    pageOf: pageOfEntry,
    handle: async (deps: Reads<'base' | 'views'>, { request, reply, caller, params, query }) => {
      // Only JSON can contain the data that these parameters request.
      const isJson = query.includeAll || query.rdfFormat !== undefined
      const representation = representationFor(request, reply, isJson ? 'json' : 'xml')
      const form = embeddedGraphs(request)
      if (!isPlainJson(representation)) {
        // In a syntax of RDF an entry is its info (W3.3.1).
        const { entry, view } = await deps.views.read(caller, params, false)
        if (isFresh(request, reply, entry, representation)) return reply.status(304).send()
        return await sendGraph(deps.base, reply, representation, { graph: view.info, name: entryUri(entry) })
      }
      const { entry, view } = await deps.views.read(caller, params, query.includeAll, pagingOf(query))
      const isCurrent = isFresh(request, reply, entry)
      // Rights and the fill level change without the entry, so a 304 could keep an outdated view.
      const isTheSameForAll = !query.includeAll && view.quota === undefined
      if (isCurrent && isTheSameForAll) return reply.status(304).send()
      return describeEntry(view, deps.base, form)
    },
  }),
]

/** Entries: their access list, info, name and deletion (W3.3, W3.4). */
export const entryRoutes = [
  route({
    id: 'listAccess',
    method: 'GET',
    url: '/:context/access/:entry',
    chapter,
    summary:
      'Read who has access to an entry, and from where: the names of users and groups, and the folders that give access.',
    details:
      '`folders` has the folders whose access lists count for the entry, the nearest first, with the IDs of users and groups by place. If `fromContext` is true, access to the context counts as well.',
    access: 'users who administer the entry',
    answers: {
      200: json(
        'The users and groups.',
        named(
          'AccessNames',
          object({
            principals: list(object({ id: text(), name: optional(text()), fullName: optional(text()) })),
            folders: list(object({ entryId: text(), name: optional(text()), acl: named('AclIds', object(aclIds)) })),
            fromContext: flag,
          }),
        ),
      ),
    },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ accessReads }: Services, { caller, params }) => await accessReads.list(caller, params),
  }),
  route({
    id: 'previewMove',
    method: 'GET',
    url: '/:context/access',
    chapter,
    summary:
      'Read how many people would lose or get access if entries moved into a list, out of their lists, or to another context.',
    access: 'users who administer all of the entries, and can write to the list or the other context',
    query: {
      entries: requiredText(`IDs of entries, separated by commas, at most ${MAX_PREVIEWED}.`, { example: 'one' }),
      list: textParameter(
        'ID of a list of the context that the entries move to. Leave it out for a move out of all lists.',
      ),
      to: textParameter('ID of the context that the entries move to. Leave it out for their own.'),
    },
    answers: {
      200: json('The number of users, including members of groups.', object({ losing: People, gaining: People })),
    },
    refusals: { 400: ['invalid-query', 'unknown-list'], 401: [], 403: [], 404: [] },
    handle: async ({ accessReads }: Services, { caller, params, query }) =>
      await accessReads.afterMove(caller, params.context, {
        entries: query.entries.split(','),
        list: query.list,
        to: query.to,
      }),
  }),
  route({
    id: 'listActivity',
    method: 'GET',
    url: '/:context/activity/:entry',
    chapter,
    summary: 'Read the latest 100 events about an entry in the audit log, the latest first.',
    access: 'users who administer the entry',
    details:
      '`changed` names the predicates of the changed metadata, separated by commas. `newName` is the name after a renaming.',
    answers: {
      200: json(
        'The events.',
        named(
          'Activity',
          object({
            events: list(
              object({
                time,
                event: text(),
                by: optional(text()),
                byName: optional(text()),
                changed: optional(text()),
                newName: optional(text()),
              }),
            ),
          }),
        ),
      ),
    },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ audit, database, entries }: Services, { caller, params }) => {
      const entry = await entries.get(caller, params, 'administer', 'read what happened to this entry')
      const events = await audit.list({ place: `${entry.context}/${entry.id}`, limit: MAX_ACTIVITY })
      const names = new Map<string | undefined, string | undefined>()
      for (const actor of new Set(events.flatMap(({ actorId }) => actorId ?? []))) {
        names.set(actor, (await findUser(database, actor))?.name)
      }
      // Not the addresses of clients, which are for administrators.
      const textIn = (value: string | number | undefined) => (value === undefined ? undefined : String(value))
      const describe = ({ time, event, actorId: by, detail }: (typeof events)[number]) => ({
        time: isoTime(time),
        event,
        by,
        byName: names.get(by),
        changed: textIn(detail?.['changed']),
        newName: textIn(detail?.['newName']),
      })
      return { events: events.map(describe) }
    },
  }),
  route({
    id: 'writeInfo',
    method: 'PUT',
    url: '/:context/entry/:entry',
    chapter,
    summary: 'Replace the info of an entry, with its access list. Statements that the body leaves out are removed.',
    access: 'users who administer the entry',
    details: 'The dates and addresses in the info stay the same, whatever the body contains.',
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
    handle: async (deps: Services, { request, reply, caller, params, query }) => {
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
    summary: 'Delete an entry with its metadata and its resource. A context is deleted with all entries in it.',
    access: 'users who administer the entry; `recursive`: users who administer the context',
    query: { recursive: flagParameter('On a list: deletes all entries in it as well, at most 10,000.') },
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: [], 413: ['list-too-large'] },
    conditional: 'write',
    handle: async (deps: Services, { request, reply, caller, params, query }) => {
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
    access: 'all callers for the name of a context; callers who can read the metadata for the name of a user or group',
    path: { context: { example: '_contexts' }, entry: { example: 'photos' } },
    answers: { 200: json('The name.', Name) },
    refusals: { 401: [], 403: [], 404: ['not-found'] },
    handle: async ({ entries }: Services, { caller, params }) => ({
      name: await entries.getName(caller, params),
    }),
  }),
  route({
    id: 'rename',
    method: 'PUT',
    url: '/:context/entry/:entry/name',
    chapter,
    summary: 'Change the name of a user, group or context. `null` or an empty name removes it.',
    access: 'callers who can write the resource; for users administrators',
    path: { context: { example: '_contexts' }, entry: { example: 'photos' } },
    body: jsonBody(NewName, { example: { name: 'Photos' } }),
    answers: { 204: done },
    refusals: { 400: ['invalid-name', 'invalid-type'], 401: [], 403: [], 404: [], 409: ['name-taken'] },
    handle: async ({ entries }: Services, { reply, caller, params, body }) =>
      sendChanged(reply, await entries.rename(caller, params, async () => (await body()).name ?? '')),
  }),
]
