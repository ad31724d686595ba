import { ask, askTagged, Problem, type Tagged } from './api.ts'
import { part } from './base.ts'
import { entryPath, inFolder, type Item, type Place, resourcePath, TITLE } from './files.ts'
import { type Graph, RESOURCE } from './graph.ts'

/**
 * The address that somebody has typed, in the form of URLs: `example.org/a b` is `https://example.org/a%20b`.
 * @throws {Problem} `invalid-iri`
 */
export function readWebAddress(typed: string): string {
  const text = typed.trim()
  const url = findUrl(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  // Some browsers escape what cannot be in the name of a host.
  if (!url || url.hostname.includes('%')) throw new Problem(400, { code: 'invalid-iri' })
  return url.href
}

function findUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

const titled = (subject: string, name: string): Graph =>
  name === '' ? {} : { [subject]: { [TITLE]: [{ type: 'literal', value: name }] } }

/** @param name may be empty: then the link has its address as its name @throws {Problem} */
export async function createLink(place: Place, address: string, name: string): Promise<void> {
  const query = new URLSearchParams({ entrytype: 'link', resource: address, ...inFolder(place) })
  const json = { metadata: titled(address, name) }
  await ask<unknown>(`${part(place.context)}?${query.toString()}`, { method: 'POST', json })
}

/** @throws {Problem} */
export async function createText(place: Place, name: string, text: string): Promise<void> {
  const query = new URLSearchParams({ graphtype: 'string', ...inFolder(place) })
  const json = { resource: text, metadata: titled(`${place.contextUri}/resource/_newId`, name) }
  await ask<unknown>(`${part(place.context)}?${query.toString()}`, { method: 'POST', json })
}

/** The text of an item. @throws {Problem} */
export async function loadText(item: Item): Promise<Tagged<string>> {
  const { value, ...tagged } = await askTagged<{ readonly resource?: string }>(`${entryPath(item)}?includeAll`)
  return { ...tagged, value: value.resource ?? '' }
}

/** @param tag what {@link loadText} has loaded @throws {Problem} status 412 if it has changed since */
export const saveText = (item: Item, text: string, tag: string | undefined): Promise<undefined> =>
  ask(resourcePath(item), { method: 'PUT', text, ifMatch: tag })

/** Changes where a link leads. What its metadata say about the old address, they say about the new one. @throws {Problem} */
export async function saveTarget(item: Item, address: string): Promise<void> {
  const { value, tag } = await askTagged<{ readonly info: Graph; readonly uri?: string }>(entryPath(item))
  const found = Object.entries(value.info).find(([, properties]) => properties[RESOURCE])
  const [entry, about] = found ?? ['', {}]
  const json = { ...value.info, [entry]: { ...about, [RESOURCE]: [{ type: 'uri', value: address }] } }
  await ask(entryPath(item), { method: 'PUT', json, ifMatch: tag })
}
