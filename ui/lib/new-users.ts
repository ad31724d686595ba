import { changeAccess } from './access.ts'
import { address, part } from './base.ts'
import { ask, Problem } from './api.ts'
import { titles } from './contexts.ts'
import type { Graph } from './graph.ts'
import { type Profile, requireAddress } from './profile.ts'

/** Placeholder for the id that the service will assign. */
const NEW_ID = '_newId'

export interface NewUser extends Profile {
  readonly name: string
  /** Empty for none. */
  readonly password: string
  readonly isTemporary: boolean
  /** Bytes, `undefined` for the default quota; absent for a user without a space. */
  readonly space: { readonly quota: number | undefined } | undefined
  /** Ids of groups. */
  readonly groups: readonly string[]
}

/** Creates a user with space and groups, all of it or nothing, and resolves to the id. @throws {Problem} */
export async function createUser({ name, password, isTemporary, space, groups, ...profile }: NewUser): Promise<string> {
  // The service keeps user names in lower case. What was typed is the full name if there is no other.
  const fullName = profile.fullName.trim() || (name.toLowerCase() === name ? '' : name.trim())
  const email = profile.email.trim() || (name.includes('@') ? name.trim() : '')
  requireAddress(email)
  const json = {
    name,
    groups,
    ...(password === '' ? {} : { password, temporaryPassword: isTemporary }),
    ...(fullName === '' ? {} : { fullName }),
    ...(email === '' ? {} : { email }),
    ...(space ? { space: space.quota === undefined ? {} : { quota: space.quota } } : {}),
  }
  try {
    return (await ask<{ readonly id: string }>('management/users', { method: 'POST', json })).id
  } catch (error) {
    const isAboutGroup = error instanceof Problem && error.code === 'invalid-member'
    throw isAboutGroup ? new Problem(error.status, { code: 'group-gone' }) : error
  }
}

interface SpaceOf {
  /** The owner. */
  readonly id: string
  readonly title: string
  readonly quota: number | undefined
}

/** Creates a context that belongs to a user and is their home. @throws {Problem} */
export async function createSpaceOf(base: string, { id, title, quota }: SpaceOf): Promise<void> {
  const place = { base, context: NEW_ID }
  const info = changeAccess({}, place, { role: 'owner', principal: id }, true)
  const metadata: Graph = { [base + NEW_ID]: { [titles[0] ?? '']: [{ type: 'literal', value: title }] } }
  const json = { resource: { quota }, info, metadata }
  const path = '_contexts?graphtype=context'
  const { entryId } = await ask<{ readonly entryId: string }>(path, { method: 'POST', json })
  await ask(`_principals/resource/${part(id)}`, { method: 'PUT', json: { homecontext: entryId } })
}

/** Asks the service to mail a link to set the password. Returns false if the service sends no such links. */
export async function invite(email: string): Promise<boolean> {
  const body = new URLSearchParams({ email })
  const response = await fetch(address('auth/pwreset'), { method: 'POST', body }).catch(() => undefined)
  return response?.ok === true
}
