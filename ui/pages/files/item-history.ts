import { type Graph, valuesOf } from '../../lib/graph.ts'
import { namesOf } from '../../lib/principals.ts'

const DCT = 'http://purl.org/dc/terms/'
const PROV = 'http://www.w3.org/ns/prov#'

/** Something that happened to an item. */
export interface Happening {
  readonly what: 'created' | 'metadata' | 'changed'
  readonly time: Date
  /** Name of the user; empty if it is not known. */
  readonly by: string
}

const idIn = (uri: string): string => uri.slice(uri.lastIndexOf('/') + 1)

/** What the info of an item says about its past, the latest first. @throws {Problem} */
export async function loadActivity(info: Graph, signal: AbortSignal): Promise<readonly Happening[]> {
  const raw = happeningsIn(info)
  const names = await namesOf(
    raw.map(({ by }) => by).filter(id => id !== ''),
    signal,
  )
  return raw.map(one => ({ ...one, by: names.get(one.by) ?? '' }))
}

function happeningsIn(info: Graph): readonly Happening[] {
  const found: Happening[] = []
  const add = (what: Happening['what'], time: string | undefined, by: string | undefined): void => {
    if (time !== undefined) found.push({ what, time: new Date(time), by: by === undefined ? '' : idIn(by) })
  }
  for (const properties of Object.values(info)) {
    const first = (predicate: string): string | undefined => properties[predicate]?.[0]?.value
    add('metadata', first(`${PROV}generatedAtTime`), first(`${PROV}wasAttributedTo`))
  }
  add('created', valuesOf(info, `${DCT}created`)[0], valuesOf(info, `${DCT}creator`)[0])
  const latest = Math.max(...found.map(({ time }) => time.getTime()))
  const modified = valuesOf(info, `${DCT}modified`)[0]
  // The last change may have been one of the file or of its permissions, which says not by whom.
  if (modified !== undefined && new Date(modified).getTime() > latest) add('changed', modified, undefined)
  return found.sort((one, other) => other.time.getTime() - one.time.getTime())
}
