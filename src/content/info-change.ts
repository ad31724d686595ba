import { InvalidInput } from '../base/errors.ts'
import { type Graph, objectsOf } from '../graph/graph.ts'
import { store } from '../graph/vocabulary.ts'
import { setHomeContext } from '../accounts/groups.ts'
import { contextIdOf, entryUri, PRINCIPALS } from '../model/addresses.ts'
import type { Queries } from '../stores/database.ts'
import { requireHomeContext } from './contexts.ts'
import { type Entry, resourceOf } from '../model/entry.ts'
import { type InfoRequest, withStatement, withSubjectMoved } from './info.ts'

/** The service records where an entry was created; a new `info` does not change that (W2.3). */
const keepingOrigin = (entry: Entry, statements: Graph): Graph => {
  const [origin] = objectsOf(entry.statements, entryUri(entry), store.originallyCreatedIn)
  return origin === undefined
    ? statements
    : withStatement(statements, entryUri(entry), store.originallyCreatedIn, origin)
}

/** The entry with its new info applied (W3.3.2, steps 1 to 5). */
export function withInfo(entry: Entry, asked: InfoRequest): Entry {
  const isLocal = entry.entryType === 'Local'
  const becomesLinkReference = asked.entryType === 'LinkReference' && !isLocal
  const changed: Entry = {
    ...entry,
    entryType: becomesLinkReference ? 'LinkReference' : entry.entryType,
    graphType: isLocal ? entry.graphType : (asked.graphType ?? 'None'),
    resourceType: isLocal ? entry.resourceType : (asked.resourceType ?? 'InformationResource'),
    externalResource: isLocal ? undefined : (asked.externalResource ?? entry.externalResource),
    acl: asked.acl,
    statements: keepingOrigin(entry, asked.statements),
  }
  const hasExternal = changed.entryType === 'LinkReference' || changed.entryType === 'Reference'
  const external = asked.externalMetadata ?? entry.externalMetadata
  // A Link may become a LinkReference before its external metadata are known, because clients do so.
  if (changed.entryType === 'Reference' && external === undefined) {
    throw new InvalidInput('invalid-graph', 'A Reference needs the URI of its external metadata.')
  }
  const from = resourceOf(entry)
  const to = resourceOf(changed)
  return {
    ...changed,
    externalMetadata: hasExternal ? external : undefined,
    metadata: from === to ? entry.metadata : withSubjectMoved(entry.metadata, from, to),
    cachedExternalMetadata:
      from === to || !entry.cachedExternalMetadata
        ? entry.cachedExternalMetadata
        : withSubjectMoved(entry.cachedExternalMetadata, from, to),
  }
}

/** Clients send the home context of a user or group as a statement of `info`. */
export async function applyHomeContext(tx: Queries, entry: Entry, { homeContextUri }: InfoRequest): Promise<void> {
  if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return
  const wanted = homeContextUri === undefined ? undefined : (contextIdOf(homeContextUri) ?? homeContextUri)
  await setHomeContext(tx, entry.id, wanted === undefined ? undefined : await requireHomeContext(tx, wanted))
}
