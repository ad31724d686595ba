import { ask, askTagged, Problem } from './api.ts'
import { part } from './base.ts'
import { type Graph, valuesOf } from './contexts.ts'

const MBOX = 'http://xmlns.com/foaf/0.1/mbox'

const metadataPath = (id: string): string => `_principals/metadata/${part(id)}`

/** The e-mail address in the metadata of a user. @throws {Problem} */
export async function loadEmail(id: string, signal: AbortSignal): Promise<string> {
  const graph = await ask<Graph>(metadataPath(id), { signal })
  return (valuesOf(graph, MBOX)[0] ?? '').replace(/^mailto:/i, '')
}

/** Replaces the address, or removes it if `email` is empty; other metadata is kept. @throws {Problem} */
export async function saveEmail(id: string, baseUri: string, email: string): Promise<void> {
  const address = email.trim()
  if (address !== '' && !/^[^\s@<>"]+@[^\s@<>"]+$/.test(address)) throw new Problem(400, { code: 'invalid-email' })
  const { value, tag } = await askTagged<Graph>(metadataPath(id))
  const subject = `${baseUri}_principals/resource/${id}`
  const { [MBOX]: _, ...others } = value[subject] ?? {}
  const mbox = address === '' ? {} : { [MBOX]: [{ type: 'uri', value: `mailto:${address}` }] }
  await ask(metadataPath(id), { method: 'PUT', json: { ...value, [subject]: { ...others, ...mbox } }, ifMatch: tag })
}
