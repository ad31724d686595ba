import type { Caller } from '../accounts/caller.ts'
import { membersOf, setMembers } from '../accounts/groups.ts'
import { GUEST, USERS } from '../accounts/principals.ts'
import { findUser } from '../accounts/users.ts'
import { Forbidden, InvalidInput } from '../base/errors.ts'
import type { Graph } from '../graph/graph.ts'
import { membersChange } from './access-changes.ts'
import type { Changes, Precondition } from './changes.ts'
import type { Entry } from '../model/entry.ts'
import { requires, type EntryInContext } from '../model/rights.ts'
import { type Read, requireDistinct, requireIds, requireText } from './values.ts'

/** Changes the resources that are stored in the entry or with the accounts: texts, graphs, groups (W3.8). */
export class Resources {
  readonly #changes: Changes

  constructor(changes: Changes) {
    this.#changes = changes
  }

  async putString(
    caller: Caller,
    placed: EntryInContext,
    read: Read<string>,
    precondition: Precondition,
  ): Promise<Entry> {
    return await this.#putContent(caller, placed, precondition, async () => requireText(await read(), 'body'))
  }

  async putGraph(
    caller: Caller,
    placed: EntryInContext,
    read: Read<Graph>,
    precondition: Precondition,
  ): Promise<Entry> {
    return await this.#putContent(caller, placed, precondition, async () => JSON.stringify(await read()))
  }

  /** @param read returns the ids of the new members in their new order. */
  async putGroup(
    caller: Caller,
    placed: EntryInContext,
    read: Read<unknown>,
    precondition: Precondition,
  ): Promise<Entry> {
    const judge = requires('writeresource', 'change the members of this group')
    judge(caller, placed)
    if (placed.entry.id === USERS) throw new Forbidden('not-allowed', 'Every user is a member of this group.')
    const members = requireDistinct(requireIds(await read()))
    return await this.#changes.change(caller, placed, { check: judge, precondition }, async (entry, writer) => {
      const { tx } = writer
      for (const id of members) {
        // With the guest as a member, every caller would have the group's rights.
        if (id === GUEST || !(await findUser(tx, id))) throw noMember(`"${id}" is not a user who can be a member.`)
      }
      writer.record(membersChange(entry.id, await membersOf(tx, entry.id), members))
      await setMembers(tx, entry.id, members)
      return entry
    })
  }

  async #putContent(
    caller: Caller,
    placed: EntryInContext,
    precondition: Precondition,
    read: Read<string>,
  ): Promise<Entry> {
    const judge = requires('writeresource', 'change the resource of this entry')
    judge(caller, placed)
    const content = await read()
    return await this.#changes.change(caller, placed, { check: judge, precondition }, entry => ({ ...entry, content }))
  }
}

const noMember = (detail: string): InvalidInput => new InvalidInput('invalid-member', detail)
