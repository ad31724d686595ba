import type { Caller, RequireFresh } from '../../accounts/caller.ts'
import { groupNameFor } from '../group-names.ts'
import { findGroup, type Group, insertGroup, membersOf, renameGroup, setMembers } from '../../accounts/groups.ts'
import { deletePrincipal, findUser, listUserIds, requireName, GUEST, USERS } from '../../accounts/users.ts'
import { Forbidden, InvalidInput, NotFound } from '../../base/errors.ts'
import { type Entry, groupAcl } from '../../model/entry.ts'
import { type EntryAddress, PRINCIPALS } from '../../model/addresses.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import { type EntryInContext, requires } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { membersChange } from '../access-changes.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type { EntryLoader } from '../entry-loader.ts'
import type {
  EntryView,
  CreateResourceInput,
  Naming,
  ViewContext,
  MemberViewer,
  ResourceBody,
  ResourceConditions,
  ResourceContent,
  ResourceKind,
  ResourceView,
  Written,
} from '../resource-kind.ts'
import { isObject } from '../../base/json.ts'
import { requireMayAppoint } from './account-guards.ts'
import { requireDistinct, requireIds, requireText } from '../values.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly changes: Changes
  readonly requireFresh: RequireFresh
}

const changing = requires('writeresource', 'change the members of this group')

/** A group of users (W2.6, W3.8). */
export class GroupKind implements ResourceKind {
  readonly isCreatable = true
  readonly home = PRINCIPALS
  readonly initialAcl = groupAcl
  readonly naming: Naming = {
    isPublic: false,
    check: requires('writeresource', 'change this name'),
    find: async (queries, id) => (await findGroup(queries, id))?.name,
    set: async (writer, id, name) => {
      const { tx, caller } = writer
      const present = (await findGroup(tx, id))?.name
      const next = name.trim() === '' ? undefined : groupNameFor(caller, name, present)
      if (next === present) return
      await requireMayAppoint(tx, caller, id, this.#deps.requireFresh)
      await renameGroup(tx, id, next)
      writer.record({
        event: 'group-renamed',
        detail: { group: groupOf(id), name: present ?? '', newName: next ?? '' },
      })
    },
  }
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  async create(writer: EntryWriter, { entry, body }: CreateResourceInput): Promise<Entry> {
    const given = isObject(body.resource) ? body.resource['name'] : undefined
    const name = given === undefined ? undefined : requireName(requireText(given, 'name'))
    await insertGroup(writer.tx, { id: entry.id, name })
    writer.record({
      event: 'group-created',
      detail: { group: groupOf(entry.id), ...(name === undefined ? {} : { name }) },
    })
    return entry
  }

  async view(caller: Caller, target: EntryInContext, { presenter }: ViewContext): Promise<ResourceView | undefined> {
    const group = await findGroup(this.#deps.database, target.entry.id)
    return group && (await this.#describe(caller, target, group, presenter))
  }

  async content(caller: Caller, target: EntryInContext, presenter: MemberViewer): Promise<ResourceContent> {
    const read = async (): Promise<ResourceView> => {
      const group = await findGroup(this.#deps.database, target.entry.id)
      if (!group) throw new NotFound('not-found', 'There is no such group.')
      return await this.#describe(caller, target, group, presenter)
    }
    return { form: 'view', isVersioned: false, read }
  }

  /** With the data of those members that the caller may read. */
  async #describe(
    caller: Caller,
    { contextEntry }: EntryInContext,
    group: Group,
    presenter: MemberViewer,
  ): Promise<ResourceView> {
    const { database, loader } = this.#deps
    const ids = group.id === USERS ? await listUserIds(database) : await membersOf(database, group.id)
    const members: EntryView[] = []
    const budget = ResponseBudget.forMany()
    for (const id of ids) {
      const entry = await loader.toShow({ context: PRINCIPALS, id }, budget)
      const user = await findUser(database, id)
      if (entry && user) members.push(await presenter.groupMember(caller, { entry, contextEntry }, user, budget))
    }
    return { form: 'group', name: group.name, members }
  }

  /** The body contains the ids of the new members in their new order. */
  async write(
    caller: Caller,
    target: EntryInContext,
    body: ResourceBody,
    { entry: precondition }: ResourceConditions,
  ): Promise<Written> {
    changing(caller, target)
    if (target.entry.id === USERS) throw new Forbidden('not-allowed', 'Every user is a member of this group.')
    const members = requireDistinct(requireIds(await body.json()))
    const conditions = { check: changing, precondition }
    const entry = await this.#deps.changes.change(caller, target, conditions, async (entry, writer) => {
      const { tx } = writer
      await requireMayAppoint(tx, writer.caller, entry.id, this.#deps.requireFresh)
      for (const id of members) {
        // With the guest as a member, every caller would have the group's rights.
        if (id === GUEST || !(await findUser(tx, id))) throw noMember(`"${id}" is not a user who can be a member.`)
      }
      writer.record(membersChange(entry.id, await membersOf(tx, entry.id), members))
      await setMembers(tx, entry.id, members)
      return entry
    })
    return { entry }
  }

  async remove(writer: EntryWriter, { id }: EntryAddress): Promise<void> {
    const name = (await findGroup(writer.tx, id))?.name
    await deletePrincipal(writer.tx, id)
    writer.record({ event: 'group-deleted', detail: { group: groupOf(id), ...(name === undefined ? {} : { name }) } })
  }
}

/** As the audit log names a group. */
const groupOf = (id: string): string => `${PRINCIPALS}/${id}`

const noMember = (detail: string): InvalidInput => new InvalidInput('invalid-member', detail)
