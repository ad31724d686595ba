import type { Caller } from '../accounts/caller.ts'
import { NotFound, WrongMethod } from '../base/errors.ts'
import type { Entry } from '../model/entry.ts'
import { requireRight } from '../model/rights.ts'
import type { Entries } from './entries.ts'
import type { EntryKey } from '../model/addresses.ts'
import { EntryLoader } from './entry-loader.ts'
import { isList } from '../model/entry.ts'
import type {
  KindReads,
  Kinds,
  MemberViewer,
  ResourceBody,
  ResourceConditions,
  ResourceContent,
  Written,
} from './resource-kind.ts'

interface ReadDependencies {
  readonly loader: EntryLoader
  readonly kinds: KindReads
  /** Presents the members of lists and groups. */
  readonly views: MemberViewer
}

interface Dependencies extends ReadDependencies {
  readonly kinds: Kinds
  readonly entries: Entries
}

/** Reads the resources of entries; the kind of the resource determines how (W3.7, W3.8). */
export class ResourceReader {
  readonly #deps: ReadDependencies

  constructor(deps: ReadDependencies) {
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

  /**
   * Checks again whether the caller may go on reading or writing the resource. The deletion of the entry ends no transfer.
   * @returns the names in the change log on which the right depends @throws {Unauthenticated
   * Forbidden}
   */
  async recheck(caller: Caller, right: 'readresource' | 'writeresource', key: EntryKey): Promise<readonly string[]> {
    try {
      const target = await this.#deps.loader.get(key)
      requireRight(caller, right, target, 'go on with this transfer')
      return EntryLoader.subjectsOf(target)
    } catch (error) {
      if (error instanceof NotFound) return []
      throw error
    }
  }
}

/** Also changes them. */
export class Resources extends ResourceReader {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    super(deps)
    this.#deps = deps
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
