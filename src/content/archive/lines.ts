import { parseGraph } from '../../graph/graph.ts'
import { type Acl, aclSlots, type Entry, type EntryHead, holdsGraph } from '../../model/entry.ts'
import type { Membership } from '../list-records.ts'
import type { Revision } from '../revisions.ts'
import type { EntryLine, FileLine, IriForms, RevisionLine } from './format.ts'

/** What stands beside an entry in its line. */
interface Beside {
  readonly list: Membership | undefined
  readonly file: FileLine | undefined
}

const isoTime = (time: number): string => new Date(time).toISOString()

/** Describes an entry as a line of the archive. */
export function describeEntry(entry: Entry, beside: Beside, form: IriForms): EntryLine {
  const isGraph = holdsGraph(entry)
  const { statements, metadata, cachedExternalMetadata: cached, content } = entry
  return {
    ...describeHead(entry, beside, form),
    info: form.absoluteGraph(statements),
    metadata: form.absoluteGraph(parseGraph(metadata)),
    cachedExternalMetadata: cached === undefined ? undefined : form.absoluteGraph(parseGraph(cached)),
    text: isGraph ? undefined : content,
    graph: isGraph ? form.absoluteGraph(parseGraph(content ?? '{}')) : undefined,
  }
}

/** The members of a line that hold no graph and no text. */
const describeHead = (
  entry: EntryHead,
  { list, file }: Beside,
  form: Pick<IriForms, 'toAbsolute'>,
): Omit<EntryLine, 'info' | 'metadata'> => ({
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
  cached: entry.cached === undefined ? undefined : isoTime(entry.cached),
  list: list && { id: list.list, position: list.position, ...(list.isTrusted ? {} : { trusted: false }) },
  file: file && { size: file.size, sha256: file.sha256 },
})

const describeAcl = (acl: Acl, form: Pick<IriForms, 'toAbsolute'>): Acl =>
  Object.fromEntries(
    aclSlots.flatMap(slot => {
      const principals = acl[slot]
      return principals ? [[slot, principals.map(iri => form.toAbsolute(iri))]] : []
    }),
  )

export const describeRevision = (id: string, revision: Revision, form: IriForms): RevisionLine => ({
  entry: id,
  number: revision.number,
  time: isoTime(revision.time),
  author: revision.author,
  metadata: form.absoluteGraph(parseGraph(revision.metadata)),
})
