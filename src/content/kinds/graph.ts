import type { Caller } from '../../accounts/caller.ts'
import type { Graph } from '../../graph/graph.ts'
import type { Entry } from '../../model/entry.ts'
import type { EntryInContext } from '../../model/rights.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type {
  CreateResourceInput,
  ResourceBody,
  ResourceConditions,
  ResourceContent,
  ResourceKind,
  ResourceView,
  Written,
} from '../resource-kind.ts'
import { writeContent } from './stored-content.ts'

const graphIn = ({ content }: Entry): Graph => JSON.parse(content ?? '{}') as Graph

/** An RDF graph, stored in the row of its entry; also a pipeline, which is kept but not run. */
export class GraphKind implements ResourceKind {
  readonly isCreatable = true
  readonly #changes: Changes

  constructor(changes: Changes) {
    this.#changes = changes
  }

  async create(_writer: EntryWriter, { entry, body }: CreateResourceInput): Promise<Entry> {
    return { ...entry, content: JSON.stringify(body.resource ?? {}) }
  }

  async view(_caller: Caller, { entry }: EntryInContext): Promise<ResourceView> {
    return { form: 'graph', graph: graphIn(entry) }
  }

  async content(_caller: Caller, { entry }: EntryInContext): Promise<ResourceContent> {
    return { form: 'graph', isVersioned: true, read: () => graphIn(entry) }
  }

  async write(
    caller: Caller,
    target: EntryInContext,
    body: ResourceBody,
    conditions: ResourceConditions,
  ): Promise<Written> {
    const read = async (): Promise<string> => JSON.stringify(await body.graph(target.entry))
    return await writeContent(this.#changes, caller, target, { read, conditions })
  }
}
