import type { Caller } from '../accounts/caller.ts'
import type { Bytes } from '../base/units.ts'
import type { EntryKey } from '../model/addresses.ts'
import type { Entry, EntrySummary } from '../model/entry.ts'
import { type EntryInContext, requireRight, type Right } from '../model/rights.ts'
import type { EntryLoader } from './entry-loader.ts'

/** Reads entries for callers who have a right. */
export class EntryReads {
  readonly #loader: EntryLoader

  constructor({ loader }: { readonly loader: EntryLoader }) {
    this.#loader = loader
  }

  /** The entry, for a caller who has the right. @param what completes "You may not …". */
  async get(caller: Caller, key: EntryKey, right: Right, what: string): Promise<Entry> {
    return requireReadable(caller, await this.#loader.get(key), right, what)
  }

  /** The entry of a context, for a caller who has the right. @param what completes "You may not …". */
  async getContext(caller: Caller, contextKey: string, right: Right, what: string): Promise<Entry> {
    return requireReadable(caller, await this.#loader.getContextEntry(contextKey), right, what)
  }

  /** The id of a context, given by its id or name. @throws {NotFound} */
  async contextId(contextKey: string): Promise<string> {
    return (await this.#loader.getContext(contextKey)).context.id
  }

  /**
   * What an entry is and how large, for deciding where a request is answered; `undefined` where there is none.
   * @param small entries up to this size are read where the request has arrived
   */
  summary(key: EntryKey, small: Bytes): Promise<EntrySummary | undefined> {
    return this.#loader.summary(key, small)
  }
}

function requireReadable(caller: Caller, target: EntryInContext, right: Right, what: string): Entry {
  requireRight(caller, right, target, what)
  return target.entry
}
