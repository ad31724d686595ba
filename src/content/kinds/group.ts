import type { RequireFresh } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { findGroup, type Group, insertGroup, membersOf, renameGroup, setMembers } from '../../accounts/groups.ts'
import { deletePrincipal, findUser, listUserIds, requireName, GUEST, USERS } from '../../accounts/users.ts'
import { Forbidden, InvalidInput, NotFound } from '../../base/errors.ts'
import { groupAcl } from '../../model/entry.ts'
import { PRINCIPALS } from '../../model/addresses.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import { type EntryInContext, requireRight, requires } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { membersChange } from '../change-events.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type { EntryLoader } from '../entry-loader.ts'
import type {
  EntryView,
  CreateResourceInput,
  MemberViewer,
  ResourceKind,
  ResourceReads,
  ResourceView,
} from '../resource-kind.ts'
import { isObject } from '../../base/json.ts'
import { requireMayAppoint } from './account-guards.ts'
import { groupNameFor, requireDistinct, requireIds, requireText } from '../values.ts'
import { findEntryHead } from '../entry-records.ts'

export interface GroupReadDependencies {
  readonly database: Database
  readonly loader: EntryLoader
}

export interface GroupDependencies {
  readonly changes: Changes
  readonly requireFresh: RequireFresh
}

const changing = requires('writeresource', 'change the members of this group')

export function groupReads({ database, loader }: GroupReadDependencies): ResourceReads {
  /** The group, with the data of those members that the caller may read. */
  const describe = async (
    caller: Caller,
    { contextEntry }: EntryInContext,
    group: Group,
    presenter: MemberViewer,
  ): Promise<ResourceView> => {
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
  return {
    async view(caller, target, { presenter }) {
      const group = await findGroup(database, target.entry.id)
      return group && (await describe(caller, target, group, presenter))
    },
    async content(caller, target, presenter) {
      const read = async (): Promise<ResourceView> => {
        const group = await findGroup(database, target.entry.id)
        if (!group) throw new NotFound('not-found', 'There is no such group.')
        return await describe(caller, target, group, presenter)
      }
      return { form: 'view', isVersioned: false, read }
    },
  }
}

/** A group of users (W2.6, W3.8). */
export function groupKind({ changes, requireFresh }: GroupDependencies, reads: ResourceReads): ResourceKind {
  return {
    ...reads,
    isCreatable: true,
    home: PRINCIPALS,
    initialAcl: groupAcl,
    naming: {
      isPublic: false,
      check: requires('writeresource', 'change this name'),
      find: async (queries, id) => (await findGroup(queries, id))?.name,
      async set(writer, id, name) {
        const { tx, caller } = writer
        const present = (await findGroup(tx, id))?.name
        const next = name.trim() === '' ? undefined : groupNameFor(caller, name, present)
        if (next === present) return
        await requireMayAppoint(tx, caller, id, requireFresh)
        await renameGroup(tx, id, next)
        const detail = { group: groupOf(id), name: present ?? '', newName: next ?? '' }
        writer.record({ event: 'group-renamed', detail })
      },
    },
    async create(writer, { entry, body }) {
      const given = isObject(body.resource) ? body.resource['name'] : undefined
      const name = given === undefined ? undefined : requireName(requireText(given, 'name'))
      await insertGroup(writer.tx, { id: entry.id, name })
      writer.record({ event: 'group-created', detail: detailOf(entry.id, name) })
      return entry
    },
    /** The body contains the ids of the new members in their new order. */
    async write(caller, target, body, { entry: precondition }) {
      changing(caller, target)
      if (target.entry.id === USERS) throw new Forbidden('not-allowed', 'Every user is a member of this group.')
      const members = requireDistinct(requireIds(await body.json()))
      const conditions = { check: changing, precondition }
      const entry = await changes.change(caller, target, conditions, async (entry, writer) => {
        const { tx } = writer
        await requireMayAppoint(tx, writer.caller, entry.id, requireFresh)
        for (const id of members) {
          // With the guest as a member, every caller would have the group's rights.
          if (id === GUEST || !(await findUser(tx, id))) throw noMember(`"${id}" is not a user who can be a member.`)
        }
        writer.record(membersChange(entry.id, await membersOf(tx, entry.id), members))
        await setMembers(tx, entry.id, members)
        return entry
      })
      return { entry }
    },
    async remove(writer, { id }) {
      const name = (await findGroup(writer.tx, id))?.name
      await deletePrincipal(writer.tx, id)
      writer.record({ event: 'group-deleted', detail: detailOf(id, name) })
    },
  }
}

/** As the audit log names a group. */
const groupOf = (id: string): string => `${PRINCIPALS}/${id}`

const detailOf = (id: string, name: string | undefined): Readonly<Record<string, string>> => ({
  group: groupOf(id),
  ...(name === undefined ? {} : { name }),
})

const noMember = (detail: string): InvalidInput => new InvalidInput('invalid-member', detail)

/** Adds a new user to the group that the request names. This requires the same right as any other change of the members (W3.8). */
export async function joinGroup(
  writer: EntryWriter,
  { maker, entry: user, place: { contextEntry } }: CreateResourceInput,
  groupUri: string,
  requireFresh: RequireFresh,
): Promise<void> {
  const { tx } = writer
  const group = /^\.\/_principals\/(?:entry|resource)\/([A-Za-z0-9_-]+)$/.exec(groupUri)?.[1]
  const entry = group === undefined ? undefined : await findEntryHead(tx, { context: PRINCIPALS, id: group })
  if (group === undefined || group === USERS || !entry || !(await findGroup(tx, group))) {
    throw new InvalidInput('invalid-member', '`groupURI` does not denote a group that can be joined.')
  }
  requireRight(maker, 'writeresource', { entry, contextEntry }, 'change the members of this group')
  await requireMayAppoint(tx, maker, group, requireFresh)
  await addMember(writer, group, user.id)
}

/** Adds the user at the end of the group unless they are a member already. */
export async function addMember(writer: EntryWriter, group: string, userId: string): Promise<void> {
  const { tx } = writer
  const members = await membersOf(tx, group)
  if (members.includes(userId)) return
  writer.record(membersChange(group, members, [...members, userId]))
  await setMembers(tx, group, [...members, userId])
}
