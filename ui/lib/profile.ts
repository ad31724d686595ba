import { ask, askTagged, Problem, type Tagged } from './api.ts'
import { part } from './base.ts'
import { type Graph, shownStatement, withText } from './graph.ts'

const FOAF = 'http://xmlns.com/foaf/0.1/'
const NAME = `${FOAF}name`
const MBOX = `${FOAF}mbox`

/** What the metadata of a user say about them; empty where they say nothing. */
export type Profile = Readonly<Record<'fullName' | 'email', string>>

const metadataPath = (id: string): string => `_principals/metadata/${part(id)}`

/** @throws {Problem} */
export const loadProfile = (id: string): Promise<Tagged<Graph>> => askTagged<Graph>(metadataPath(id))

export const profileIn = (metadata: Graph): Profile => ({
  fullName: shownStatement(metadata, [NAME])?.value ?? '',
  email: (shownStatement(metadata, [MBOX])?.value ?? '').replace(/^mailto:/i, ''),
})

/** Changes only what is given in the metadata of a user. @throws {Problem} status 412 if they have changed since */
export async function saveProfile(
  user: { readonly id: string; readonly uri: string },
  metadata: Graph,
  { fullName, email }: Partial<Profile>,
  tag: string | undefined,
): Promise<void> {
  const address = email?.trim()
  if (address && !/^[^\s@<>"]+@[^\s@<>"]+$/.test(address)) throw new Problem(400, { code: 'invalid-email' })
  let json = metadata
  if (fullName !== undefined) json = withText(json, user.uri, [NAME], fullName.trim())
  if (address !== undefined) {
    json = withText(json, user.uri, [MBOX], address === '' ? '' : `mailto:${address}`, 'uri')
  }
  await ask(metadataPath(user.id), { method: 'PUT', json, ifMatch: tag })
}
