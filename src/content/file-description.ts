import type { Bytes } from '../base/units.ts'
import { InvalidInput, WrongMethod } from '../base/errors.ts'
import { parseMediaType } from '../base/text.ts'
import { type Graph, literal, objectsOf, parseGraph } from '../graph/graph.ts'
import { dct, rdfs, xsd } from '../graph/vocabulary.ts'
import { type Entry, holdsFile, resourceOf } from '../model/entry.ts'
import { withStatement } from './info.ts'

/** What `info` states about the file of an entry: media type, size, name. */

/** The default media type of a file. */
export const UNTYPED = 'application/octet-stream'

/** @throws {WrongMethod | InvalidInput} */
export function requireHoldsFile(entry: Entry): void {
  if (holdsFile(entry)) return
  const isExternal = entry.entryType !== 'Local'
  if (isExternal) throw new WrongMethod('Uploading to an entry whose resource is elsewhere', ['GET', 'HEAD'])
  throw new InvalidInput('invalid-type', 'This entry cannot hold a file.')
}

/** The statements of `info` about the file (W2.3); a file without a name removes the label of the previous one. */
export function describeFile(
  entry: Entry,
  file: { readonly mediaType: string; readonly fileName: string | undefined; readonly size: number } | undefined,
): Graph {
  const r = resourceOf(entry)
  const say = (graph: Graph, predicate: string, text: string | undefined, datatype?: string): Graph =>
    withStatement(graph, r, predicate, text === undefined ? undefined : literal(text, datatype))
  const typed = say(entry.statements, dct.format, file?.mediaType)
  const measured = say(typed, dct.extent, file && String(file.size), xsd.long)
  return say(measured, rdfs.label, file?.fileName)
}

/** The media type with which the file is served: the type in `info` if it is valid. Anyone who may write the info sets this type. */
export function mediaTypeOf(entry: Entry): string {
  const type = objectsOf(entry.statements, resourceOf(entry), dct.format)[0]?.value
  return (type === undefined ? undefined : parseMediaType(type)) ?? UNTYPED
}

/** The file name for downloads: the label without folder names (RFC 6266 4.3), else the entry's id. */
export function fileNameOf(entry: Entry): string {
  const name = withoutFolders(objectsOf(entry.statements, resourceOf(entry), rdfs.label)[0]?.value ?? '')
  return name === '' || isFolderName(name) ? entry.id : name
}

/**
 * The name that an upload gives its file; an empty name counts as none. @throws {InvalidInput} for a name that no system accepts for a file
 */
export function readFileName(name: string | undefined): string | undefined {
  if (name === undefined || name === '') return undefined
  if (!isFolderName(withoutFolders(name)) && !name.includes('\0')) return name
  throw new InvalidInput('invalid-value', `A file cannot have the name ${JSON.stringify(name.slice(0, 80))}.`)
}

const withoutFolders = (path: string): string => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)

const isFolderName = (name: string): boolean => name === '.' || name === '..'

/** The name that people see: the label that an upload writes, or the title; the id if the entry has neither. */
export function displayName(entry: Entry): string {
  const about = resourceOf(entry)
  const label =
    objectsOf(entry.statements, about, rdfs.label)[0] ?? objectsOf(parseGraph(entry.metadata), about, dct.title)[0]
  return label?.value ?? entry.id
}

/** What the audit log says of a file that has arrived. @param previous the file that it replaces */
export const uploadEvent = (entry: Entry, { size }: { readonly size: Bytes }, previous: unknown) => {
  const { context, id } = entry
  const event = previous === undefined ? 'file-uploaded' : 'file-replaced'
  return { event, detail: { context, entry: id, name: displayName(entry), size } } as const
}
