import { isoTime } from '../../base/times.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { done, json, paging, route } from '../../http/interface/route.ts'
import { list, named, object, oneOf, optional, text } from '../../http/interface/schema.ts'
import { count, time } from '../../http/interface/shared-schemas.ts'
import { actions, MAX_ENTRIES, type Operation, roles, states } from './operation.ts'
import type { Operations } from './operations.ts'

const chapter = 'Entries'
const access = 'the user who began it, and administrators'
const path = { operation: { description: 'The `id` of the operation.', schema: { type: 'string' }, example: 'none' } }

const Destination = object({ context: text(), list: optional(text()) })
const Share = object({ principal: text(), role: oneOf(...roles) })
const Tags = object({ add: optional(list(text())), remove: optional(list(text())) })

const NewOperation = named(
  'NewOperation',
  object({
    action: oneOf(...actions),
    entries: optional(list(text())),
    list: optional(text()),
    query: optional(text()),
    except: optional(list(text())),
    to: optional(Destination),
    share: optional(Share),
    tags: optional(Tags),
  }),
)

const OperationJson = named(
  'Operation',
  object({
    id: text(),
    action: oneOf(...actions),
    state: oneOf(...states),
    total: count,
    done: count,
    failed: count,
    failures: list(object({ entry: text(), code: text(), reason: text() })),
    code: optional(text()),
    reason: optional(text()),
    maker: text(),
    created: time,
    finished: optional(time),
  }),
)

/** 10,000 ids of the longest form. */
const MAX_BODY = 2 * 2 ** 20

interface Services extends HttpServices {
  readonly operations: Operations
}

/** Changes of many entries with one request (D51). */
export const operationRoutes = [
  route({
    id: 'beginOperation',
    method: 'POST',
    url: '/:context/operations',
    chapter,
    summary: 'Change many entries of the context: move, copy, delete, restore, purge, share or tag them.',
    details:
      `Send one of \`entries\` (their IDs), \`list\` (the ID of a list: its members) and \`query\` (a search in the context). \`except\` contains the IDs of entries that stay unchanged. One operation changes at most ${MAX_ENTRIES.toLocaleString('en')} entries. ` +
      '`move` and `copy` need `to`, which may name another context; without `to.list` the entries are in no list afterwards. `trash` moves entries to the trash; `restore` and `purge` need `entries` that are in the trash. ' +
      '`share` gives a user or group a role, or with `none` takes all roles from them. `tag` adds and removes values of `dcat:keyword`. ' +
      'The service changes the entries in the background. It checks each entry as for a single request, with the rights that the user has at that moment.',
    requires: { role: 'user', to: 'change many entries at once' },
    body: jsonBody(NewOperation, {
      example: { action: 'tag', entries: ['one'], tags: { add: ['summer'] } },
      limit: MAX_BODY,
    }),
    answers: { 202: json('The operation, which has begun.', OperationJson, { headers: { Location: 'Its address.' } }) },
    refusals: {
      400: ['invalid-value', 'invalid-type', 'invalid-member', 'unknown-list', 'invalid-query', 'query-too-costly'],
      401: [],
      403: [],
      404: [],
      413: ['operation-too-large', 'list-too-large'],
      429: ['too-many-operations'],
      503: ['overloaded'],
    },
    handle: async ({ base, operations }: Services, { reply, caller, params, body }) => {
      const operation = await operations.create(caller, params.context, async () => {
        const { action, to, share, tags, ...selection } = await body()
        const { add = [], remove = [] } = tags ?? {}
        return { request: { action, to, share, tags: tags && { add, remove } }, selection }
      })
      reply.status(202).header('location', `${base.href}${operation.context}/operations/${operation.id}`)
      return describe(operation)
    },
  }),
  route({
    id: 'listOperations',
    method: 'GET',
    url: '/:context/operations',
    chapter,
    summary:
      'List the operations of the caller on entries of the context, the latest first. Administrators get those of all users.',
    details: 'Finished operations are kept for seven days, at most 50 of each user.',
    requires: { role: 'user', to: 'see operations' },
    query: paging,
    answers: { 200: json('The operations.', object({ items: list(OperationJson), results: count })) },
    refusals: { 401: [], 404: [] },
    handle: async ({ operations }: Services, { caller, params, query }) => {
      const { items, results } = await operations.list(caller, params.context, query)
      return { items: items.map(describe), results }
    },
  }),
  route({
    id: 'readOperation',
    method: 'GET',
    url: '/:context/operations/:operation',
    chapter,
    summary: 'Read how far an operation is, and which entries could not be changed.',
    access,
    details: '`done` and `failed` together reach `total`. `failures` has the first 100 entries that failed.',
    requires: { role: 'user', to: 'see operations' },
    path,
    answers: { 200: json('The operation.', OperationJson) },
    refusals: { 401: [], 404: [] },
    handle: async ({ operations }: Services, { caller, params }) =>
      describe(await operations.get(caller, params.context, params.operation)),
  }),
  route({
    id: 'cancelOperation',
    method: 'DELETE',
    url: '/:context/operations/:operation',
    chapter,
    summary: 'Cancel an operation. Changes that it has made stay.',
    access,
    details: 'A finished operation stays unchanged.',
    requires: { role: 'user', to: 'cancel operations' },
    path,
    answers: { 204: done },
    refusals: { 401: [], 404: [] },
    handle: async ({ operations }: Services, { reply, caller, params }) => {
      await operations.cancel(caller, params.context, params.operation)
      return await reply.status(204).send()
    },
  }),
]

const describe = ({ id, request, state, total, position, failed, ...rest }: Operation) => ({
  id,
  action: request.action,
  state,
  total,
  done: position - failed,
  failed,
  failures: rest.failures,
  code: rest.code,
  reason: rest.reason,
  maker: rest.maker,
  created: isoTime(rest.created),
  finished: isoTime(rest.finished),
})
