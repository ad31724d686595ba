import { part } from './base.ts'
import { ask } from './api.ts'
import { titleIn } from './contexts.ts'
import { escape, LABEL } from './files.ts'
import { type Graph, resourceIn, shownStatement, valuesOf } from './graph.ts'
import { currentBaseUri } from './session.ts'

interface Hit {
  readonly entryId: string
  readonly contextId: string
  readonly name?: string
  readonly alias?: string
  readonly info: Graph
  readonly metadata?: Graph
}

/** Number of entries looked up with one request. */
const BATCH = 40

const FULL_NAME = 'http://xmlns.com/foaf/0.1/name'

/**
 * What people call entries, by their place (`_principals/7`, `_contexts/3`, `3/590`). Without those that no longer exist, that the user
 * may not read, or that have no name.
 * @throws {Problem}
 */
export async function labelsOf(places: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(places)]
  const batches = Array.from({ length: Math.ceil(wanted.length / BATCH) }, (_, index) =>
    wanted.slice(index * BATCH, (index + 1) * BATCH),
  )
  const found = await Promise.all(batches.map(batch => lookUp(batch, signal)))
  return new Map(found.flat())
}

async function lookUp(places: readonly string[], signal: AbortSignal): Promise<Array<readonly [string, string]>> {
  const uris = places.map(place => {
    const [context = '', entry = ''] = place.split('/')
    return `uri:${escape(`${currentBaseUri()}${part(context)}/entry/${part(entry)}`)}`
  })
  const parameters = new URLSearchParams({ type: 'solr', query: uris.join(' OR '), limit: String(BATCH) })
  const { resource } = await ask<{ readonly resource: { readonly children: readonly Hit[] } }>(
    `search?${parameters.toString()}`,
    { signal },
  )
  return resource.children.flatMap(hit => {
    const label = labelOf(hit)
    return label === undefined ? [] : [[`${hit.contextId}/${hit.entryId}`, label] as const]
  })
}

function labelOf({ contextId, name, alias, info, metadata }: Hit): string | undefined {
  if (contextId !== '_principals')
    return valuesOf(info, LABEL)[0] ?? titleIn(resourceIn(info), metadata) ?? alias ?? name
  return personLabel(shownStatement(metadata, [FULL_NAME])?.value, name)
}

/** The full name with the user name, which no other user has. Where both say the same, as it was typed. */
export function personLabel(fullName: string | undefined, name: string | undefined): string | undefined {
  if (fullName === undefined || fullName === '') return name
  return name === undefined || fullName.toLowerCase() === name ? fullName : `${fullName} (${name})`
}
