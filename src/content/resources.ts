import type { Caller } from '../accounts/caller.ts'
import { WrongMethod } from '../base/errors.ts'
import type { Entry } from '../model/entry.ts'
import { requireRight } from '../model/rights.ts'
import type { Entries } from './entries.ts'
import type { EntryKey } from '../model/addresses.ts'
import type { EntryLoader } from './entry-loader.ts'
import { isList } from '../model/entry.ts'
import type {
  Kinds,
  MemberViewer,
  ResourceBody,
  ResourceConditions,
  ResourceContent,
  Written,
} from './resource-kind.ts'

interface Dependencies {
  readonly loader: EntryLoader
  readonly kinds: Kinds
  readonly entries: Entries
  /** Presents the members of lists and groups. */
  readonly views: MemberViewer
}

/** Reads and changes the resources of entries; the kind of the resource determines how (W3.7, W3.8). */
export class Resources {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The entry and its resource, for callers who may read it. The content is absent when this service does not have the resource: it is
   * elsewhere, or a thing.
   */
  async read(
    caller: Caller,
    key: EntryKey,
  ): Promise<{ readonly entry: Entry; readonly content: ResourceContent | undefined }> {
    const { loader, kinds, views } = this.#deps
    const target = await loader.get(key)
    requireRight(caller, 'readresource', target, 'read the resource of this entry')
    const { entry } = target
    const isHere = entry.entryType === 'Local' && entry.resourceType !== 'NamedResource'
    return { entry, content: isHere ? await kinds.of(entry).content(caller, target, views) : undefined }
  }

  async write(caller: Caller, key: EntryKey, body: ResourceBody, conditions: ResourceConditions): Promise<Written> {
    const target = await this.#deps.loader.get(key)
    return await this.#deps.kinds.of(target.entry).write(caller, target, body, conditions)
  }

  /**
   * Deletes or empties the resource. Resolves to the entry, or to `undefined` when it has been deleted as well.
   * @param recursive on a list: deletes the list and all entries in it
   */
  async clear(
    caller: Caller,
    key: EntryKey,
    conditions: ResourceConditions,
    recursive: boolean,
  ): Promise<Entry | undefined> {
    const target = await this.#deps.loader.get(key)
    if (recursive && isList(target.entry)) {
      await this.#deps.entries.delete(caller, key, conditions.entry, true)
      return undefined
    }
    const kind = this.#deps.kinds.of(target.entry)
    if (!kind.clear) throw new WrongMethod('DELETE', ['GET', 'HEAD', 'PUT'])
    return await kind.clear(caller, target, conditions)
  }
}
