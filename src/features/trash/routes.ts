import type { HttpServices, ReadHttp } from '../../http/http-services.ts'
import type { Trash } from './trash.ts'
import type { TrashedEntry, TrashList } from './trash-list.ts'
import { done, json, paging, route, textParameter } from '../../http/interface/route.ts'
import { list, named, object, oneOf, optional, text } from '../../http/interface/schema.ts'
import { count, time, uri } from '../../http/interface/shared-schemas.ts'
import { graphTypes } from '../../model/entry.ts'
import { isoTime } from '../../base/times.ts'
import { preconditionOf } from '../../http/representations.ts'

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

interface ReadServices extends ReadHttp {
  readonly trashList: TrashList
}

interface Services extends HttpServices {
  readonly trash: Trash
}

/** The trash of a context (D25), as it is read. */
export const readRoutes = [
  route({
    id: 'readTrash',
    method: 'GET',
    url: '/:context/trash',
    chapter,
    summary: 'List the entries in the trash that the caller administers, the latest first.',
    access: 'callers who can read the context, or administer an entry in the trash',
    details:
      '`bytes` is the size of all files in the trash, which counts towards the quota. `results` is the number of entries; with `query`, of the entries that were found. `entries` of a list counts the list and everything in it.',
    query: {
      query: textParameter('Part of a name, in upper or lower case.', { keywords: { maxLength: 256 } }),
      ...paging,
    },
    answers: { 200: json('The entries.', object({ items: list(Trashed), results: count, bytes: count })) },
    refusals: { 401: [], 403: [], 404: [] },
    heavy: true,
    handle: async ({ trashList }: ReadServices, { caller, params, query }) => {
      const { items, results, bytes } = await trashList.read(caller, params.context, query)
      return { items: items.map(describe), results, bytes }
    },
  }),
]

/** The trash of a context (D25). `DELETE` of an entry does not use it: it deletes at once, as clients expect. */
export const trashRoutes = [
  route({
    id: 'moveToTrash',
    method: 'POST',
    url: '/:context/trash/:entry',
    chapter,
    summary: 'Move an entry to the trash. A list moves with everything in it, at most 10,000 entries.',
    access: 'users who administer the entry, and everything in the list',
    details:
      'Operations outside the trash no longer find the entry. Its files still count towards the quota. The service deletes it permanently after `service.trash.days`.',
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
    handle: async ({ trash }: Services, { request, reply, caller, params }) => {
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
      '`list` is the list that the entry returns to. It is absent if the entry was in no list, the list no longer exists, or the caller may not write to the list.',
    path: inTrash,
    answers: { 200: json('The entry.', object({ entryURI: uri, list: optional(text()) })) },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ base, trash }: Services, { caller, params }) => {
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
    handle: async ({ trash }: Services, { reply, caller, params }) => {
      await trash.delete(caller, params.context, params.entry)
      return await reply.status(204).send()
    },
  }),
  route({
    id: 'emptyTrash',
    method: 'DELETE',
    url: '/:context/trash',
    chapter,
    summary: 'Delete permanently each entry in the trash that the caller administers, with everything in it.',
    access: 'callers who can read the context, or administer an entry in the trash',
    answers: {
      200: json('The number of entries that were moved to the trash and are now deleted.', object({ deleted: count })),
    },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async ({ trash }: Services, { caller, params }) => ({
      deleted: await trash.empty(caller, params.context),
    }),
  }),
]

const describe = ({ deleted, expires, ...rest }: TrashedEntry) => ({
  ...rest,
  deleted: isoTime(deleted),
  expires: isoTime(expires),
})
