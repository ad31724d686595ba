import {
  anyOf,
  anything,
  flag,
  integer,
  list,
  mapOf,
  named,
  nothing,
  numeric,
  object,
  oneOf,
  openObject,
  optional,
  type Schema,
  text,
} from './schema.ts'

/** Schemas that several operations share. A schema of a single operation is declared with its route. */

export const count = integer(0)
export const time = text({ format: 'date-time' })
export const uri = text({ format: 'uri' })

export const Json = named('Json', anything, { description: 'Any JSON.' })

export const Graph = named('Graph', mapOf(anything), {
  description: 'An RDF graph in RDF/JSON: subject, predicate, objects. JSON-LD where `rdfFormat` asks for it.',
}) as Schema

export const CurrentUser = named(
  'CurrentUser',
  object({
    id: text(),
    user: text(),
    clientAcceptLanguage: mapOf(numeric),
    uri: optional(uri),
    language: optional(text()),
    homecontext: optional(text()),
    isAdmin: optional(flag),
    authTokenExpires: optional(text()),
    secondFactor: optional(oneOf('missing')),
  }),
)

export const Quota = named('Quota', object({ quota: integer(-1), fillLevel: count, hasDefaultQuota: flag }))
/** A quota object as it is sent, which may be what GET returned: the other members are ignored. */
export const SentQuota = openObject({ quota: integer(-1) })

export const rights = list(oneOf('administer', 'readmetadata', 'writemetadata', 'readresource', 'writeresource'))

const entryMembers = {
  name: optional(text()),
  alias: optional(text()),
  disabled: optional(flag),
  quota: optional(Quota),
  size: optional(count),
  truncated: optional(flag),
  metadata: optional(Graph),
  'cached-external-metadata': optional(Graph),
  relations: optional(Graph),
  rights: optional(rights),
} as const

export const Entry = named('Entry', object({ entryId: text(), info: Graph, ...entryMembers, resource: optional(Json) }))

/** An entry among the hits of a search. */
export const Hit = named('Hit', object({ entryId: text(), contextId: text(), info: Graph, ...entryMembers }))

export const Ids = named('Ids', list(text()))
export const Name = named('Name', object({ name: text() }))
/** `null` and an empty text remove the name. */
export const NewName = named('NewName', object({ name: anyOf(text(), nothing) }))

export const StoredFile = named(
  'StoredFile',
  object({ success: text(), format: text(), size: count, sha256: text({ pattern: '^[0-9a-f]{64}$' }) }),
)

/** A page of a list: its items, the number of all items, and the position of the page. */
export const pageOf = <T>(name: string, items: Schema<T>) =>
  object({ [name]: list(items), results: count, limit: count, offset: count })
