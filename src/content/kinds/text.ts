import type { Caller } from '../../accounts/caller.ts'
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
import { requireText } from '../values.ts'
import { writeContent } from './stored-content.ts'

/** A text, stored in the row of its entry (W3.8.2). */
export class TextKind implements ResourceKind {
  readonly isCreatable = true
  readonly #changes: Changes

  constructor(changes: Changes) {
    this.#changes = changes
  }

  async create(_writer: EntryWriter, { entry, body }: CreateResourceInput): Promise<Entry> {
    return { ...entry, content: body.resource === undefined ? '' : requireText(body.resource, 'resource') }
  }

  async view(_caller: Caller, { entry }: EntryInContext): Promise<ResourceView> {
    return { form: 'value', value: entry.content ?? '' }
  }

  async content(_caller: Caller, { entry }: EntryInContext): Promise<ResourceContent> {
    return { form: 'text', isVersioned: true, read: () => entry.content ?? '' }
  }

  async write(
    caller: Caller,
    target: EntryInContext,
    body: ResourceBody,
    conditions: ResourceConditions,
  ): Promise<Written> {
    const read = async (): Promise<string> => requireText(await body.text(), 'body')
    return await writeContent(this.#changes, caller, target, { read, conditions })
  }

  async clear(caller: Caller, target: EntryInContext, conditions: ResourceConditions): Promise<Entry> {
    return (await writeContent(this.#changes, caller, target, { read: async () => '', conditions })).entry
  }
}
