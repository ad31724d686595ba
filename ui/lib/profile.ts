import { ask, askTagged, Problem } from './api.ts'
import { part } from './base.ts'
import { type Graph, valuesOf } from './contexts.ts'

const FOAF = 'http://xmlns.com/foaf/0.1/'
const NAME = `${FOAF}name`
const MBOX = `${FOAF}mbox`

/** What the metadata of a user say about them; empty where they say nothing. */
export interface Profile {
  readonly fullName: string
  readonly email: string
}

const metadataPath = (id: string): string => `_principals/metadata/${part(id)}`

/** @throws {Problem} */
export async function loadProfile(id: string, signal: AbortSignal): Promise<Profile> {
  const graph = await ask<Graph>(metadataPath(id), { signal })
  return {
    fullName: valuesOf(graph, NAME)[0] ?? '',
    email: (valuesOf(graph, MBOX)[0] ?? '').replace(/^mailto:/i, ''),
  }
}

/** Replaces name and address, or removes what is empty; other metadata is kept. @throws {Problem} */
export async function saveProfile(id: string, baseUri: string, profile: Profile): Promise<void> {
  const [fullName, email] = [profile.fullName.trim(), profile.email.trim()]
  if (email !== '' && !/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) throw new Problem(400, { code: 'invalid-email' })
  const { value, tag } = await askTagged<Graph>(metadataPath(id))
  const subject = `${baseUri}_principals/resource/${id}`
  const { [NAME]: _name, [MBOX]: _mbox, ...others } = value[subject] ?? {}
  const stated = {
    ...(fullName === '' ? {} : { [NAME]: [{ type: 'literal', value: fullName }] }),
    ...(email === '' ? {} : { [MBOX]: [{ type: 'uri', value: `mailto:${email}` }] }),
  }
  await ask(metadataPath(id), { method: 'PUT', json: { ...value, [subject]: { ...others, ...stated } }, ifMatch: tag })
}
