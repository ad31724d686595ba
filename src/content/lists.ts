import type { Caller } from '../accounts/caller.ts'
import { InvalidInput } from '../base/errors.ts'
import type { Queries } from '../stores/database.ts'
import type { Changes, Precondition } from './changes.ts'
import type { Entry } from '../model/entry.ts'
import { presentIds } from './entry-records.ts'
import { replaceListMembers } from './list-records.ts'
import { requires, type EntryInContext } from '../model/rights.ts'
import { type Read, requireDistinct, requireIds } from './values.ts'

/** Changes the members of lists (W3.8.5). */
export class Lists {
  readonly #changes: Changes

  constructor(changes: Changes) {
    this.#changes = changes
  }

  /** @param read returns the new members in their new order, entries of the same context. */
  async put(caller: Caller, placed: EntryInContext, read: Read<unknown>, precondition: Precondition): Promise<Entry> {
    const judge = requires('writeresource', 'change the members of this list')
    judge(caller, placed)
    const members = requireDistinct(requireIds(await read()))
    return await this.#changes.change(caller, placed, { check: judge, precondition }, async (list, { tx }) => {
      await requirePresent(tx, list.context, members)
      await replaceListMembers(tx, list, members)
      return list
    })
  }

  /** Removes all members; they stay in the context. */
  async clear(caller: Caller, placed: EntryInContext, precondition: Precondition): Promise<Entry> {
    return await this.put(caller, placed, async () => [], precondition)
  }
}

async function requirePresent(tx: Queries, context: string, ids: readonly string[]): Promise<void> {
  const present = await presentIds(tx, context, ids)
  const missing = ids.find(id => !present.has(id))
  if (missing !== undefined) throw new InvalidInput('invalid-member', `There is no entry "${missing}" in this context.`)
}
