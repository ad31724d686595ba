import type { EntryView, ResourceView, ShownGraph } from '../content/resource-kind.ts'
import type { Graph } from '../graph/graph.ts'
import type { BaseAddress } from './base-address.ts'

/** The form of a graph inside JSON. */
export type GraphForm = (graph: Graph) => unknown

const asRdfJson: GraphForm = graph => graph

/** The graph as clients see it. A stored text gets absolute IRIs before it is parsed: that takes no second graph. */
export const absoluteGraphOf = (base: BaseAddress, given: ShownGraph): Graph =>
  typeof given === 'string' ? (JSON.parse(base.absoluteText(given)) as Graph) : base.absoluteGraph(given)

/** A graph as RDF/JSON with absolute IRIs. */
export const graphJson = (base: BaseAddress, given: ShownGraph): string =>
  typeof given === 'string' ? base.absoluteText(given) : JSON.stringify(base.absoluteGraph(given))

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

/** An entry as a member of another, without some of its parts. */
function describeMember(view: EntryView, base: BaseAddress, form: GraphForm): Record<string, unknown> {
  const { alias: _alias, quota: _quota, resource: _resource, ...member } = describeEntry(view, base, form)
  return member
}
