import { ask, askTagged } from './api.ts'
import { part } from './base.ts'
import type { Graph } from './graph.ts'
import { loadProfile, saveProfile, withProfile } from './profile.ts'

export interface Member {
  readonly entryId: string
  readonly name?: string
}

export interface GroupResource {
  readonly name?: string
  readonly children: readonly Member[]
}

export const groupPath = (id: string): string => `_principals/resource/${part(id)}`

/** Changes the members as they are now; refused if another user changes them at the same time. @throws {Problem} */
export async function changeMembers(
  id: string,
  change: (members: readonly string[]) => readonly string[],
): Promise<void> {
  const { value, tag } = await askTagged<GroupResource>(groupPath(id))
  const json = change(value.children.map(({ entryId }) => entryId))
  await ask(groupPath(id), { method: 'PUT', json, ifMatch: tag })
}

/** What people see of a name that the service keeps in lower case; empty where both are the same. */
const asTyped = (name: string): string => (name.toLowerCase() === name ? '' : name)

const NEW_ID = '_newId'

/** Creates a group, and resolves to the id. @throws {Problem} */
export async function createGroup(base: string, name: string): Promise<string> {
  const uri = `${base}_principals/resource/${NEW_ID}`
  const metadata: Graph = withProfile({}, uri, { fullName: asTyped(name) })
  const json = { resource: { name }, metadata }
  const path = '_principals?graphtype=group'
  return (await ask<{ readonly entryId: string }>(path, { method: 'POST', json })).entryId
}

/** Renames a group. @throws {Problem} */
export async function renameGroup(base: string, id: string, name: string): Promise<void> {
  await ask(`_principals/entry/${part(id)}/name`, { method: 'PUT', json: { name } })
  const { value, tag } = await loadProfile(id)
  await saveProfile({ id, uri: `${base}_principals/resource/${id}` }, value, { fullName: asTyped(name) }, tag)
}

/** Adds a user to a group, or removes them. @throws {Problem} */
export const setMember = (group: string, user: string, isMember: boolean): Promise<void> =>
  changeMembers(group, members => {
    const others = members.filter(member => member !== user)
    return isMember ? [...others, user] : others
  })
