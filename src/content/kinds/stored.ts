import { parseStored } from '../../base/json.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { Entry } from '../../model/entry.ts'
import { type EntryInContext, requires } from '../../model/rights.ts'
import type { Changes } from '../changes.ts'
import type { ResourceConditions, ResourceKind, ResourceReads, Written } from '../resource-kind.ts'
import { type Read, requireText } from '../values.ts'
import type { Graph } from '../../graph/graph.ts'

export const textReads: ResourceReads = {
  async view(_caller, { entry }) {
    return { form: 'value', value: entry.content ?? '' }
  },
  async content(_caller, { entry }) {
    return { form: 'text', isVersioned: true, read: () => entry.content ?? '' }
  },
}

/** A text, stored in the row of its entry (W3.8.2). */
export const textKind = (changes: Changes): ResourceKind => ({
  ...textReads,
  isCreatable: true,
  async create(_writer, { entry, body }) {
    return { ...entry, content: body.resource === undefined ? '' : requireText(body.resource, 'resource') }
  },
  async write(caller, target, body, conditions) {
    const read = async (): Promise<string> => requireText(await body.text(), 'body')
    return await writeContent(changes, caller, target, { read, conditions })
  },
  async clear(caller, target, conditions) {
    return (await writeContent(changes, caller, target, { read: async () => '', conditions })).entry
  },
})

const changing = requires('writeresource', 'change the resource of this entry')

/** Replaces a resource that is stored in the row of its entry. */
async function writeContent(
  changes: Changes,
  caller: Caller,
  target: EntryInContext,
  { read, conditions }: { readonly read: Read<string>; readonly conditions: ResourceConditions },
): Promise<Written> {
  changing(caller, target)
  const content = await read()
  const checks = { check: changing, precondition: conditions.entry }
  return { entry: await changes.change(caller, target, checks, entry => ({ ...entry, content })) }
}

const graphIn = ({ content }: Entry): Graph => parseStored<Graph>(content ?? '{}')

export const graphReads: ResourceReads = {
  async view(_caller, { entry }) {
    return { form: 'graph', graph: graphIn(entry) }
  },
  async content(_caller, { entry }) {
    return { form: 'graph', isVersioned: true, read: () => graphIn(entry) }
  },
}

/** An RDF graph, stored in the row of its entry; also the steps of a pipeline. */
export const graphKind = (changes: Changes): ResourceKind => ({
  ...graphReads,
  isCreatable: true,
  async create(_writer, { entry, body }) {
    return { ...entry, content: JSON.stringify(body.resource ?? {}) }
  },
  async write(caller, target, body, conditions) {
    const read = async (): Promise<string> => JSON.stringify(await body.graph(target.entry))
    return await writeContent(changes, caller, target, { read, conditions })
  },
})
