import { ask } from './api.ts'
import { type Item, loadMetadata, metadataPath, saveMetadata } from './files.ts'
import type { Graph } from './graph.ts'
import { namesOf } from './principals.ts'
import { isSameTriple, type Triple, triplesIn } from './triples.ts'

const PROV = 'http://www.w3.org/ns/prov#'

/** A state that the metadata of an item had, or have. */
export interface Version {
  /** Counts from 1. */
  readonly number: number
  readonly time: Date
  /** Name of the user; empty if it is not known. */
  readonly by: string
}

const NUMBER = /\/metadata\/[^/?]+\?rev=(\d+)$/

const rawVersions = (info: Graph) =>
  Object.entries(info).flatMap(([subject, properties]) => {
    const number = NUMBER.exec(subject)?.[1]
    const time = properties[`${PROV}generatedAtTime`]?.[0]?.value
    if (number === undefined || time === undefined) return []
    const author = properties[`${PROV}wasAttributedTo`]?.[0]?.value ?? ''
    return [{ number: Number(number), time: new Date(time), author: author.slice(author.lastIndexOf('/') + 1) }]
  })

/** Whether the service keeps versions of the metadata of this item. */
export const hasVersions = ({ info }: Item): boolean => rawVersions(info).length > 0

/** The versions that the info of an item lists, the latest first. @throws {Problem} */
export async function loadVersions({ info }: Item, signal: AbortSignal): Promise<readonly Version[]> {
  const found = rawVersions(info).sort((one, other) => other.number - one.number)
  const names = await namesOf(
    found.map(({ author }) => author),
    signal,
  )
  return found.map(({ author, ...version }) => ({ ...version, by: names.get(author) ?? '' }))
}

/** The metadata as they were. @param number 0 for what was before the first version @throws {Problem} */
export const loadVersion = async (item: Item, number: number, signal?: AbortSignal): Promise<Graph> =>
  number === 0 ? {} : await ask<Graph>(`${metadataPath(item)}?rev=${number}`, signal ? { signal } : {})

/** A statement before and after, either of which may be missing. */
export interface Difference {
  readonly before: Triple | undefined
  readonly after: Triple | undefined
}

/** How two graphs differ. A value that was replaced by another of the same property and language is one difference. */
export function differencesOf(before: Graph, after: Graph): readonly Difference[] {
  const [old, present] = [triplesIn(before), triplesIn(after)]
  const removed = old.filter(triple => !present.some(other => isSameTriple(triple, other)))
  const added = present.filter(triple => !old.some(other => isSameTriple(triple, other)))
  const differences = removed.map((triple): Difference => {
    const at = added.findIndex(other => placeOf(other) === placeOf(triple))
    return { before: triple, after: at < 0 ? undefined : added.splice(at, 1)[0] }
  })
  return [...differences, ...added.map(after => ({ before: undefined, after }))]
}

const placeOf = ({ subject, predicate, object: { lang = '' } }: Triple): string => `${subject} ${predicate} ${lang}`

/** Makes the metadata what they were in a version; returns what they were until now. @throws {Problem} */
export async function restoreVersion(item: Item, number: number): Promise<Graph> {
  const [before, graph] = await Promise.all([loadMetadata(item), loadVersion(item, number)])
  await saveMetadata(item, graph, before.tag)
  return before.value
}

/** Takes a restoration back. @throws {Problem} */
export async function putBack(item: Item, graph: Graph): Promise<void> {
  const { tag } = await loadMetadata(item)
  await saveMetadata(item, graph, tag)
}
