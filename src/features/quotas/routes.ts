import { InvalidInput, NotSupported } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import type { OthersQuota, QuotaUpload, Quotas } from './quotas.ts'
import { requireLimit } from './quota-json.ts'
import type { Limits } from '../../files/quota-owners.ts'
import type { QuotaOwner, Usage } from '../../files/quota-usage.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { describeUpload, uploadMembers } from '../uploads/upload-members.ts'
import { checkedBelow } from '../../http/interface/bodies.ts'
import { done, json, paging, route, textParameter, undescribed, wholeNumber } from '../../http/interface/route.ts'
import {
  anyOf,
  flag,
  integer,
  list,
  named,
  nothing,
  object,
  oneOf,
  openObject,
  optional,
  text,
} from '../../http/interface/schema.ts'
import { count } from '../../http/interface/shared-schemas.ts'

/** With quota off the resources do not exist (D7.1). */
export interface QuotaServices extends HttpServices {
  readonly quotas: Quotas
  readonly ledger: Ledger
}

export const hasQuota = ({ ledger }: Pick<QuotaServices, 'ledger'>): boolean => ledger.enforced

const chapter = 'Contexts and quota'

const State = named(
  'QuotaOfOwner',
  object({
    owner: object({ kind: oneOf('context', 'user', 'group', 'store'), id: text() }),
    quota: integer(-1),
    fillLevel: count,
    hasDefaultQuota: flag,
    maxFiles: integer(-1),
    files: count,
    reserved: count,
    reservedFiles: count,
    contexts: optional(list(text())),
  }),
)

const Reserving = named(
  'ReservingUpload',
  object({ ...uploadMembers, reserved: count, uploader: object({ id: text(), name: optional(text()) }) }),
  { description: 'An upload in progress. The user of its quota, and administrators, may delete it.' },
)

const OthersState = named('QuotaOfOthers', object({ owner: object({ kind: oneOf('group', 'store') }), full: flag }), {
  description: 'A quota whose numbers the caller may not read.',
})

const groupName = { description: 'Name of the group: A-Z, a-z, 0-9, _ and -.', example: 'lab' }

/** Members that GET returns and clients cannot set. */
const READ_ONLY = ['owner', 'fillLevel', 'hasDefaultQuota', 'files', 'reserved', 'reservedFiles']
const limit = optional(anyOf(integer(-1), nothing))
const OwnLimits = openObject({ quota: limit, maxFiles: limit })
const GroupLimits = openObject({ quota: limit, maxFiles: limit, contexts: optional(list(text())) })

const refusals = { 401: [], 403: [], 404: [], 501: ['quota-not-supported'] } as const
const writeRefusals = { ...refusals, 400: ['invalid-quota'] } as const
const meaning =
  '`quota` is a number of bytes, `maxFiles` a number of files. -1 means no limit; `null`, or no value, means the default. Limits below the present usage only prevent growth.'

/** Quotas of users, groups of contexts and the store (D41). `/{context}/quota` sets the bytes of a context, as clients know it. */
export const quotaRoutes = [
  route({
    id: 'readQuotas',
    method: 'GET',
    url: '/quota',
    chapter,
    summary: 'List the quotas that apply to the caller.',
    access: 'signed-in users; with `context` callers who can read the context, also guests',
    details:
      'The response has the quota of the user and, if there is one, of the store; with `context` also the quotas of the context and of its group. Only administrators get the numbers of the group and the store; other users only get `full`.',
    query: { context: textParameter('Id or name of a context: the quotas that apply to files in it.') },
    tokenScopes: ['read', 'quota'],
    answers: { 200: json('The quotas.', object({ items: list(anyOf(State, OthersState)) })) },
    refusals,
    isOffered: hasQuota,
    handle: async ({ quotas }: QuotaServices, { caller, query: { context } }) => {
      const states = context === undefined ? await quotas.ofCaller(caller) : await quotas.inContext(caller, context)
      return { items: states.map(state => ('isFull' in state ? describeOthers(state) : describe(state))) }
    },
  }),
  ...ownersOf('user', 'users', 'a user'),
  ...ownersOf('group', 'groups', 'a group of contexts'),
  ...ownersOf('context', 'contexts', 'a context'),
  ...oneOwner('/quota/store', 'Store', 'the store', () => ({ kind: 'store', id: '' })),
  // With quota off the resources do not exist, for any method (D7.1).
  ...[
    '/:context/quota',
    '/quota',
    '/quota/store',
    '/quota/store/uploads',
    ...['users', 'groups', 'contexts'].flatMap(kind => [
      `/quota/${kind}`,
      `/quota/${kind}/:entry`,
      `/quota/${kind}/:entry/uploads`,
    ]),
  ].flatMap(url =>
    (url.endsWith('/uploads') ? (['GET'] as const) : (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)).map(method =>
      undescribed({
        method,
        url,
        isOffered: (deps: QuotaServices) => !hasQuota(deps),
        handle: () => Promise.reject(new NotSupported('quota-not-supported', 'Quota is switched off on this service.')),
      }),
    ),
  ),
]

/** A list of the owners of a kind, and the operations on one of them. */
function ownersOf(kind: 'user' | 'group' | 'context', plural: string, what: string) {
  const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
  return [
    route({
      id: `list${name}Quotas`,
      method: 'GET',
      url: `/quota/${plural}`,
      chapter,
      summary: `List the quotas and the usage of ${plural === 'groups' ? 'groups of contexts' : plural}, those that use most first.`,
      access: 'administrators',
      query: {
        ...paging,
        reached: wholeNumber('Only those that have reached this percentage of a limit; 0 is all.', {
          otherwise: 0,
          max: 100,
        }),
      },
      tokenScopes: ['read', 'quota'],
      answers: { 200: json('The quotas.', object({ items: list(State), results: count })) },
      refusals,
      isOffered: hasQuota,
      handle: async ({ quotas }: QuotaServices, { caller, query }) => {
        const { usages, total } = await quotas.list(caller, kind, query)
        return { items: usages.map(describe), results: total }
      },
    }),
    ...oneOwner(`/quota/${plural}/:entry`, name, what, ({ entry = '' }) => ({ kind, id: entry })),
  ]
}

function oneOwner(
  url: string,
  name: string,
  what: string,
  ownerOf: (params: { readonly entry?: string }) => QuotaOwner,
) {
  const isGroup = name === 'Group'
  const path = { entry: isGroup ? groupName : { description: 'Id of the user or context.', example: '5' } }
  return [
    route({
      id: `read${name}Quota`,
      method: 'GET',
      url,
      path,
      chapter,
      summary: `Read the quota and the usage of ${what}.`,
      access: name === 'User' ? 'administrators, and the user' : 'administrators',
      tokenScopes: ['read', 'quota'],
      answers: { 200: json('The quota.', State) },
      refusals,
      isOffered: hasQuota,
      handle: async ({ quotas }: QuotaServices, { caller, params }) =>
        describe(await quotas.read(caller, ownerOf(params))),
    }),
    route({
      id: `list${name}QuotaUploads`,
      method: 'GET',
      url: `${url}/uploads`,
      path,
      chapter,
      summary: `List the resumable uploads in progress that count against the quota of ${what}, those that reserve most first.`,
      access:
        { User: 'administrators, and the user', Context: 'administrators, and the owners of the context' }[name] ??
        'administrators',
      query: paging,
      tokenScopes: ['read', 'quota'],
      answers: { 200: json('The uploads.', object({ items: list(Reserving), results: count })) },
      refusals,
      isOffered: hasQuota,
      handle: async ({ base, quotas }: QuotaServices, { caller, params, query }) => {
        const { uploads, results } = await quotas.uploads(caller, ownerOf(params), query)
        return { items: uploads.map(upload => describeReserving(base, upload)), results }
      },
    }),
    route({
      id: `set${name}Quota`,
      method: 'PUT',
      url,
      path,
      chapter,
      summary: isGroup ? 'Create a group of contexts, or set its quota.' : `Set the quota of ${what}.`,
      access: 'administrators',
      details: isGroup
        ? `${meaning} \`contexts\` are the ids of all contexts of the group; without \`contexts\` they stay the same. A context belongs to at most one group. A context whose files do not fit into the quota of the group is refused.`
        : meaning,
      tokenScopes: ['quota'],
      body: checkedBelow(isGroup ? GroupLimits : OwnLimits, { example: { quota: 150_000_000, maxFiles: 1000 } }),
      answers: { 200: json('The quota.', State) },
      refusals: isGroup
        ? { ...writeRefusals, 400: ['invalid-quota', 'invalid-name'], 409: ['conflict'], 413: ['quota-exceeded'] }
        : writeRefusals,
      isOffered: hasQuota,
      handle: async ({ quotas }: QuotaServices, { caller, params, body }) =>
        describe(await quotas.set(caller, ownerOf(params), readChange(await body(), isGroup))),
    }),
    route({
      id: `reset${name}Quota`,
      method: 'DELETE',
      url,
      path,
      chapter,
      summary: isGroup ? 'Delete a group of contexts. Its contexts stay.' : `Go back to the default quota of ${what}.`,
      access: 'administrators',
      tokenScopes: ['quota'],
      answers: isGroup ? { 204: done } : { 200: json('The quota.', State) },
      refusals,
      isOffered: hasQuota,
      handle: async ({ quotas }: QuotaServices, { caller, params, reply }) => {
        const state = await quotas.remove(caller, ownerOf(params))
        if (state) return describe(state)
        reply.status(204)
        return undefined
      },
    }),
  ]
}

const describe = ({ owner, limit, used, held, hasDefaultQuota, contexts }: Usage) => ({
  owner,
  quota: limit.bytes,
  fillLevel: used.bytes,
  hasDefaultQuota,
  maxFiles: limit.files,
  files: used.files,
  reserved: held.bytes - used.bytes,
  reservedFiles: held.files - used.files,
  ...(contexts && { contexts }),
})

const describeReserving = (base: QuotaServices['base'], upload: QuotaUpload) => ({
  ...describeUpload(base, upload),
  reserved: upload.reserved,
  uploader: { id: upload.uploader, ...(upload.uploaderName === undefined ? {} : { name: upload.uploaderName }) },
})

const describeOthers = ({ owner, isFull }: OthersQuota) => ({ owner, full: isFull })

/** @throws {InvalidInput} `invalid-quota` */
function readChange(json: unknown, isGroup: boolean): Limits {
  if (!isObject(json)) throw wrong('A JSON object with `quota` or `maxFiles` was expected.')
  const known = ['quota', 'maxFiles', 'contexts', ...READ_ONLY]
  const others = Object.keys(json).filter(member => !known.includes(member))
  if (others.length > 0) throw wrong(`These members cannot be set: ${others.join(', ')}.`)
  const { contexts } = json
  if (contexts !== undefined && !isGroup) throw wrong('Only a group has `contexts`.')
  return {
    bytes: readLimit(json['quota'], 'quota'),
    files: readLimit(json['maxFiles'], 'maxFiles'),
    contexts: contexts === undefined ? undefined : readContexts(contexts),
  }
}

const readLimit = (value: unknown, member: 'quota' | 'maxFiles'): number | null =>
  value === undefined || value === null ? null : requireLimit(value, member)

function readContexts(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every(id => typeof id === 'string')) return [...new Set(value)]
  throw wrong('`contexts` must be an array of ids of contexts.')
}

const wrong = (detail: string): InvalidInput => new InvalidInput('invalid-quota', detail)
