import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import type { Item } from '../../lib/files.ts'
import { type Graph, valuesOf } from '../../lib/graph.ts'
import { tellPredicates } from '../../lib/predicates.ts'
import { namesOf } from '../../lib/principals.ts'

const DCT = 'http://purl.org/dc/terms/'
const PROV = 'http://www.w3.org/ns/prov#'

/** Something that happened to an item. */
export interface Happening {
  /** What the info tells, or an event of the audit log. */
  readonly what: string
  readonly time: Date
  /** Name of the user; empty if it is not known. */
  readonly by: string
  /** What exactly has changed: a new name, or predicates. */
  readonly detail?: string
}

const idIn = (uri: string): string => uri.slice(uri.lastIndexOf('/') + 1)

/** The clocks of a change and of its event differ by this at most. */
const SAME_CHANGE = 5000

/** What is known of the past of an item, the latest first: by its info and, for owners, by the audit log. @throws {Problem} */
export async function loadActivity(item: Item, signal: AbortSignal): Promise<readonly Happening[]> {
  const [ofInfo, events] = await Promise.all([
    loadHistory(item.info, signal),
    item.isOwner ? loadEvents(item, signal) : [],
  ])
  // The info does not say what has changed, or by whom; an event does.
  const isExplained = ({ what, time }: Happening): boolean =>
    ['changed', 'metadata'].includes(what) && events.some(event => isNear(event.time, time))
  return latestFirst([...ofInfo.filter(one => !isExplained(one)), ...events])
}

/** What the info of an item says about its past, the latest first. @throws {Problem} */
export async function loadHistory(info: Graph, signal: AbortSignal): Promise<readonly Happening[]> {
  const raw = happeningsIn(info)
  const names = await namesOf(
    raw.map(({ by }) => by).filter(id => id !== ''),
    signal,
  )
  return latestFirst(raw.map(one => ({ ...one, by: names.get(one.by) ?? '' })))
}

const latestFirst = (all: readonly Happening[]): readonly Happening[] =>
  [...all].sort((one, other) => other.time.getTime() - one.time.getTime())

const isNear = (one: Date, other: Date): boolean => Math.abs(one.getTime() - other.getTime()) < SAME_CHANGE

interface EntryEvent {
  readonly time: string
  readonly event: string
  readonly by?: string
  readonly byName?: string
  readonly changed?: string
  readonly newName?: string
}

async function loadEvents({ context, entryId }: Item, signal: AbortSignal): Promise<readonly Happening[]> {
  const path = `${part(context)}/activity/${part(entryId)}`
  const { events } = await ask<{ readonly events: readonly EntryEvent[] }>(path, { signal })
  const names = await namesOf(
    events.flatMap(({ by }) => by ?? []),
    signal,
  )
  return events.map(({ time, event, by = '', byName = by, changed, newName }) => ({
    what: event,
    time: new Date(time),
    by: names.get(by) ?? byName,
    detail: changed === undefined ? (newName ?? '') : tellPredicates(changed),
  }))
}

function happeningsIn(info: Graph): readonly Happening[] {
  const found: Happening[] = []
  const add = (what: string, time: string | undefined, by: string | undefined): void => {
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
  return found
}
