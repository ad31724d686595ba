import type { Graph } from '../../graph/graph.ts'
import { type Acl, aclSlots, type Entry, holdsGraph } from '../../model/entry.ts'
import type { Membership } from '../list-records.ts'
import type { Revision } from '../revisions.ts'
import type { EntryLine, FileLine, OutsideForm, RevisionLine } from './format.ts'

const isoTime = (time: number): string => new Date(time).toISOString()

/** Describes an entry as a line of the archive. */
export function describeEntry(
  entry: Entry,
  { list, file }: { readonly list: Membership | undefined; readonly file: FileLine | undefined },
  form: OutsideForm,
): EntryLine {
  const isGraph = holdsGraph(entry)
  const graph = (given: Graph | undefined): Graph | undefined => given && form.graphOutside(given)
  return {
    id: entry.id,
    entryType: entry.entryType,
    graphType: entry.graphType,
    resourceType: entry.resourceType,
    resource: entry.externalResource === undefined ? undefined : form.toAbsolute(entry.externalResource),
    externalMetadata: entry.externalMetadata === undefined ? undefined : form.toAbsolute(entry.externalMetadata),
    created: isoTime(entry.created),
    modified: isoTime(entry.modified),
    creator: entry.creator,
    contributors: entry.contributors,
    acl: describeAcl(entry.acl, form),
    info: form.graphOutside(entry.statements),
    metadata: form.graphOutside(entry.metadata),
    cachedExternalMetadata: graph(entry.cachedExternalMetadata),
    cached: entry.cached === undefined ? undefined : isoTime(entry.cached),
    text: isGraph ? undefined : entry.content,
    graph: isGraph ? form.graphOutside(JSON.parse(entry.content ?? '{}') as Graph) : undefined,
    list: list && { id: list.list, position: list.position },
    file: file && { size: file.size, sha256: file.sha256 },
  }
}

const describeAcl = (acl: Acl, form: OutsideForm): Acl =>
  Object.fromEntries(
    aclSlots.flatMap(slot => {
      const principals = acl[slot]
      return principals ? [[slot, principals.map(iri => form.toAbsolute(iri))]] : []
    }),
  )

export const describeRevision = (id: string, revision: Revision, form: OutsideForm): RevisionLine => ({
  entry: id,
  number: revision.number,
  time: isoTime(revision.time),
  author: revision.author,
  metadata: form.graphOutside(revision.metadata),
})
