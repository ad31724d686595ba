import type { EntryView, ResourceView, ShownGraph } from '../content/resource-kind.ts'
import { emptyGraph, type Graph } from '../graph/graph.ts'
import type { BaseAddress } from './base-address.ts'

/** The form of a graph inside JSON. */
export type GraphForm = (graph: Graph) => unknown

const asRdfJson: GraphForm = graph => graph

/** The graph as clients see it. A stored text gets absolute IRIs before it is parsed: that takes no second graph. */
export const absoluteGraphOf = (base: BaseAddress, given: ShownGraph): Graph =>
  typeof given === 'string' ? (JSON.parse(base.absoluteText(given)) as Graph) : base.absoluteGraph(given)

/** A graph as RDF/JSON with absolute IRIs. */
export function graphJson(base: BaseAddress, given: ShownGraph): string {
  if (typeof given === 'string') return base.absoluteText(given)
  return given === emptyGraph ? '{}' : JSON.stringify(base.absoluteGraph(given))
}

/** The entry's JSON (W2.2); members that the caller may not see are absent. */
export function describeEntry(view: EntryView, base: BaseAddress, form = asRdfJson): Record<string, unknown> {
  const graph = (given: ShownGraph | undefined): unknown => given && form(absoluteGraphOf(base, given))
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

/** Parts of an entry that an answer with several entries may leave out. */
export type Leavable = 'name' | 'alias' | 'quota' | 'resource'

/** Parts of an entry that are not shown where it is a member of another. */
const notOfMembers: ReadonlySet<Leavable> = new Set(['alias', 'quota', 'resource'])

/**
 * The same as {@link describeEntry} with graphs in RDF/JSON, put together from texts: a graph that is only sent is not parsed.
 * @param left names of members that are left out
 * @param more further members, each after a comma
 */
export function entryJson(view: EntryView, base: BaseAddress, left?: ReadonlySet<Leavable>, more = ''): string {
  const { name, quota, disabled, info, metadata, cachedExternalMetadata, relations, rights, size, truncated } = view
  const isShown = (member: Leavable): boolean => left?.has(member) !== true
  let text = `{"entryId":${JSON.stringify(view.entryId)}`
  if (name !== undefined && isShown('name')) text += `,"name":${JSON.stringify(name)}`
  if (name !== undefined && isShown('alias')) text += `,"alias":${JSON.stringify(name)}`
  if (quota !== undefined && isShown('quota')) text += `,"quota":${JSON.stringify(quota)}`
  if (disabled !== undefined) text += `,"disabled":${disabled}`
  text += `,"info":${graphJson(base, info)}`
  if (metadata !== undefined) text += `,"metadata":${graphJson(base, metadata)}`
  if (cachedExternalMetadata !== undefined)
    text += `,"cached-external-metadata":${graphJson(base, cachedExternalMetadata)}`
  if (relations !== undefined) text += `,"relations":${graphJson(base, relations)}`
  // Names of rights need no escapes.
  if (rights !== undefined) text += rights.length === 0 ? ',"rights":[]' : `,"rights":["${rights.join('","')}"]`
  if (size !== undefined) text += `,"size":${size}`
  if (truncated !== undefined) text += `,"truncated":${truncated}`
  if (view.resource !== undefined && isShown('resource')) text += `,"resource":${resourceJson(view.resource, base)}`
  return `${text}${more}}`
}

/** The resource on its own, in the same form as inside the entry's JSON. */
export function describeResource(view: ResourceView, base: BaseAddress, form = asRdfJson): unknown {
  switch (view.form) {
    case 'value':
      return view.value
    case 'graph':
      return form(base.absoluteGraph(view.graph))
    case 'list':
      return { ...view.page, children: view.page.children.map(child => describeMember(child, base, form)) }
    case 'group':
      return { name: view.name, children: view.members.map(member => describeMember(member, base, form)) }
  }
}

function resourceJson(view: ResourceView, base: BaseAddress): string {
  if (view.form !== 'list') return JSON.stringify(describeResource(view, base))
  const { children, ...others } = view.page
  const shown = children.map(child => entryJson(child, base, notOfMembers)).join(',')
  return `{"children":[${shown}],${JSON.stringify(others).slice(1)}`
}

function describeMember(view: EntryView, base: BaseAddress, form: GraphForm): Record<string, unknown> {
  const members = Object.entries(describeEntry(view, base, form))
  return Object.fromEntries(members.filter(([name]) => !notOfMembers.has(name as Leavable)))
}
