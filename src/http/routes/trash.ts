import type { TrashedEntry } from '../../content/trash/trash.ts'
import { done, json, paging, route } from '../interface/route.ts'
import { list, named, object, oneOf, optional, text } from '../interface/schema.ts'
import { count, time, uri } from '../interface/schemas.ts'
import { graphTypes } from '../../model/entry.ts'
import type { Uses } from '../services.ts'
import { isoTime } from '../../base/times.ts'
import { preconditionOf } from '../representations.ts'

const chapter = 'Trash'
const access = 'users who administer the entry and everything in it'

const Trashed = named(
  'TrashedEntry',
  object({
    entryId: text(),
    name: text(),
    graphType: oneOf(...graphTypes),
    entries: count,
    bytes: count,
    deleted: time,
    deletedBy: object({ id: text(), name: optional(text()) }),
    list: optional(text()),
    expires: optional(time),
  }),
)

const inTrash = { entry: { description: 'The id that the entry had.', example: 'two' } }

/** The trash of a context (D25). `DELETE` of an entry does not use it: it deletes at once, as clients expect. */
export const trashRoutes = [
  route({
    id: 'readTrash',
    method: 'GET',
    url: '/:context/trash',
    chapter,
    summary: 'List the entries in the trash that the caller administers, the latest first.',
    access: 'callers who can read the context, or administer an entry in the trash',
    details:
      '`bytes` is the size of all files in them, which counts towards the quota; `results` their number. `entries` of one includes those in the list.',
    query: paging,
    answers: { 200: json('The entries.', object({ items: list(Trashed), results: count, bytes: count })) },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ trash }: Uses<'trash'>, { caller, params, query }) => {
      const { items, results, bytes } = await trash.list(caller, params.context, query)
      return { items: items.map(describe), results, bytes }
    },
  }),
  route({
    id: 'moveToTrash',
    method: 'POST',
    url: '/:context/trash/:entry',
    chapter,
    summary: 'Move an entry to the trash, a list with everything in it, at most 10,000 entries.',
    access: 'users who administer the entry, and everything in the list',
    details:
      'From then on no other operation finds it. Its files still count towards the quota. It is deleted permanently after `service.trash.days`.',
    answers: { 204: done },
    refusals: {
      400: ['invalid-type'],
      401: [],
      403: [],
      404: [],
      412: ['precondition-failed'],
      413: ['list-too-large'],
    },
    conditional: 'write',
    handle: async ({ trash }: Uses<'trash'>, { request, reply, caller, params }) => {
      await trash.put(caller, params, preconditionOf(request))
      return await reply.status(204).send()
    },
  }),
  route({
    id: 'restoreFromTrash',
    method: 'POST',
    url: '/:context/trash/:entry/restore',
    chapter,
    summary: 'Bring an entry back from the trash with its id, file, metadata, access list and everything in it.',
    access,
    details:
      '`list` is the list that it is in again; absent if it was in none, that list no longer exists, or the caller may not write to it.',
    path: inTrash,
    answers: { 200: json('The entry.', object({ entryURI: uri, list: optional(text()) })) },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ base, trash }: Uses<'base' | 'trash'>, { caller, params }) => {
      const { address, list } = await trash.restore(caller, params.context, params.entry)
      return { entryURI: base.toAbsolute(address), list }
    },
  }),
  route({
    id: 'deleteFromTrash',
    method: 'DELETE',
    url: '/:context/trash/:entry',
    chapter,
    summary: 'Delete an entry in the trash permanently, with everything in it.',
    access,
    path: inTrash,
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ trash }: Uses<'trash'>, { reply, caller, params }) => {
      await trash.delete(caller, params.context, params.entry)
      return await reply.status(204).send()
    },
  }),
  route({
    id: 'emptyTrash',
    method: 'DELETE',
    url: '/:context/trash',
    chapter,
    summary: 'Delete permanently what is in the trash and the caller administers with everything in it.',
    access: 'callers who can read the context, or administer an entry in the trash',
    answers: { 200: json('How many entries were moved to the trash and are deleted now.', object({ deleted: count })) },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ trash }: Uses<'trash'>, { caller, params }) => ({
      deleted: await trash.empty(caller, params.context),
    }),
  }),
]

const describe = ({ deleted, expires, ...rest }: TrashedEntry) => ({
  ...rest,
  deleted: isoTime(deleted),
  expires: isoTime(expires),
})
