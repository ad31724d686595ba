import type { Caller } from '../accounts/caller.ts'
import { isGuest } from '../accounts/caller.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { User } from '../accounts/users.ts'
import type { Milliseconds } from '../base/units.ts'
import { entryUri, PRINCIPALS } from '../model/addresses.ts'
import type { EntryView, ResourceView } from '../content/resource-kind.ts'
import type { Graph } from '../graph/graph.ts'
import type { BaseAddress } from './base-address.ts'
import { acceptLanguage } from './protocol/negotiate.ts'

/** The current-user information of I2.2 and D3.1. */
export function describeCaller(
  { user, expires }: { readonly user: User; readonly expires: Milliseconds | undefined },
  language: string | undefined,
  base: BaseAddress,
): Record<string, unknown> {
  const common = { id: user.id, user: user.name, clientAcceptLanguage: acceptLanguage(language) }
  if (isGuest({ user })) return common
  return {
    ...common,
    uri: base.toAbsolute(entryUri({ context: PRINCIPALS, id: user.id })),
    language: user.language,
    homecontext: user.homeContext,
    authTokenExpires: expires === undefined ? undefined : localeTime(expires),
  }
}

/** When the caller's cookie login will end, as the answer to this request leaves it. */
export const expiryOf = ({ session }: Caller, sessions: Sessions): Milliseconds | undefined =>
  session && sessions.expiryAfterAccess(session)

/** `Sun Nov 22 10:00:00 UTC 2026` (D3.1). */
function localeTime(time: Milliseconds): string {
  // From `Sun, 22 Nov 2026 10:00:00 GMT`.
  const text = new Date(time).toUTCString()
  return `${text.slice(0, 3)} ${text.slice(8, 11)} ${text.slice(5, 7)} ${text.slice(17, 25)} UTC ${text.slice(12, 16)}`
}

/** ISO 8601 without a zone, in UTC, six fraction digits (I2.3, D3.2). */
export const zonelessTime = (time: Milliseconds): string => new Date(time).toISOString().replace(/Z$/, '000')

/** The form of a graph inside JSON. */
export type GraphForm = (graph: Graph) => unknown

const asRdfJson: GraphForm = graph => graph

/** The entry's JSON (W2.2); members that the caller may not see are absent. */
export function describeEntry(view: EntryView, base: BaseAddress, form = asRdfJson): Record<string, unknown> {
  const graph = (given: Graph | undefined): unknown => given && form(base.graphOutside(given))
  return {
    entryId: view.entryId,
    name: view.name,
    alias: view.name,
    quota: view.quota,
    disabled: view.disabled,
    info: graph(view.info),
    metadata: graph(view.metadata),
    'cached-external-metadata': graph(view.cachedExternalMetadata),
    relations: graph(view.relations),
    rights: view.rights,
    size: view.size,
    truncated: view.truncated,
    resource: view.resource && describeResource(view.resource, base, form),
  }
}

/** The same as {@link describeEntry} with graphs in RDF/JSON, put together from texts: a graph that is only sent is not parsed. */
export function entryJson(view: EntryView, base: BaseAddress): string {
  const graph = (given: Graph | undefined): string | undefined => given && base.graphJson(given)
  const members: ReadonlyArray<readonly [name: string, text: string | undefined]> = [
    ['entryId', JSON.stringify(view.entryId)],
    ['name', JSON.stringify(view.name)],
    ['alias', JSON.stringify(view.name)],
    ['quota', JSON.stringify(view.quota)],
    ['disabled', JSON.stringify(view.disabled)],
    ['info', graph(view.info)],
    ['metadata', graph(view.metadata)],
    ['cached-external-metadata', graph(view.cachedExternalMetadata)],
    ['relations', graph(view.relations)],
    ['rights', JSON.stringify(view.rights)],
    ['size', JSON.stringify(view.size)],
    ['truncated', JSON.stringify(view.truncated)],
    ['resource', view.resource && resourceJson(view.resource, base)],
  ]
  const written = members.flatMap(([name, text]) => (text === undefined ? [] : [`"${name}":${text}`]))
  return `{${written.join(',')}}`
}

/** The resource on its own, in the same form as inside the entry's JSON. */
export function describeResource(view: ResourceView, base: BaseAddress, form = asRdfJson): unknown {
  switch (view.form) {
    case 'value':
      return view.value
    case 'graph':
      return form(base.graphOutside(view.graph))
    case 'list':
      return { ...view.page, children: view.page.children.map(child => describeMember(child, base, form)) }
    case 'group':
      return { name: view.name, children: view.members.map(member => describeMember(member, base, form)) }
  }
}

/** The members of a list are a text already. */
function resourceJson(view: ResourceView, base: BaseAddress): string {
  if (view.form !== 'list') return JSON.stringify(describeResource(view, base))
  const { children, allUnsorted, ...numbers } = view.page
  const shown = JSON.stringify(children.map(child => describeMember(child, base, asRdfJson)))
  return `{"children":${shown},${JSON.stringify(numbers).slice(1, -1)},"allUnsorted":${allUnsorted.json}}`
}

function describeMember(view: EntryView, base: BaseAddress, form: GraphForm): Record<string, unknown> {
  const { alias: _alias, quota: _quota, resource: _resource, ...member } = describeEntry(view, base, form)
  return member
}
