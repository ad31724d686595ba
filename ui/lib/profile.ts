import { ask, askTagged, Problem, type Tagged } from './api.ts'
import { part } from './base.ts'
import { type Graph, shownStatement, withText } from './graph.ts'

const FOAF = 'http://xmlns.com/foaf/0.1/'
const NAME = `${FOAF}name`
const MBOX = `${FOAF}mbox`

/** What the metadata of a user say about them; empty where they say nothing. */
export type Profile = Readonly<Record<'fullName' | 'email', string>>

type Changed = { readonly [Member in keyof Profile]?: Profile[Member] | undefined }

const metadataPath = (id: string): string => `_principals/metadata/${part(id)}`

/** @throws {Problem} */
export const loadProfile = (id: string): Promise<Tagged<Graph>> => askTagged<Graph>(metadataPath(id))

export const profileIn = (metadata: Graph): Profile => ({
  fullName: shownStatement(metadata, [NAME])?.value ?? '',
  email: (shownStatement(metadata, [MBOX])?.value ?? '').replace(/^mailto:/i, ''),
})

/** @param email may be empty @throws {Problem} `invalid-email` */
export function requireAddress(email = ''): void {
  if (email !== '' && !/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) throw new Problem(400, { code: 'invalid-email' })
}

/** The metadata of a user with what is given. @throws {Problem} `invalid-email` */
export function withProfile(metadata: Graph, uri: string, { fullName, email }: Changed): Graph {
  const address = email?.trim()
  requireAddress(address)
  let graph = metadata
  if (fullName !== undefined) graph = withText(graph, uri, [NAME], fullName.trim())
  if (address !== undefined) {
    graph = withText(graph, uri, [MBOX], address === '' ? '' : `mailto:${address}`, 'uri')
  }
  return graph
}

/** Changes only what is given in the metadata of a user. @throws {Problem} status 412 if they have changed since */
export async function saveProfile(
  user: { readonly id: string; readonly uri: string },
  metadata: Graph,
  { fullName, email }: Partial<Profile>,
  tag: string | undefined,
): Promise<void> {
  const json = withProfile(metadata, user.uri, { fullName, email })
  await ask(metadataPath(user.id), { method: 'PUT', json, ifMatch: tag })
}
