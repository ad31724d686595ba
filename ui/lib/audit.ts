import { ask } from './api.ts'
import { labelsOf } from './labels.ts'

/** An event of the audit log. */
export interface AuditEvent {
  readonly time: string
  readonly event: string
  readonly userId?: string
  readonly userName?: string
  readonly actorId?: string
  readonly address?: string
  readonly detail: Readonly<Record<string, string | number>>
}

export interface AuditFilter {
  /** Whom events are about, or who caused them: part of a name, or an id. */
  readonly user?: string
  /** The same by exactly this id. */
  readonly userId?: string
  readonly event?: string
  /** A context by id or name, or an entry as `context/id`. */
  readonly place?: string
  /** Part of the name of an entry, now or at the time of the event. */
  readonly item?: string
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** A part of the log, the latest events first. @throws {Problem} */
export async function loadEvents(
  filter: AuditFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  signal?: AbortSignal,
): Promise<readonly AuditEvent[]> {
  const parameters = new URLSearchParams({ offset: String(offset), limit: String(limit) })
  for (const [key, value] of Object.entries(filter)) if (value) parameters.set(key, value)
  const path = `management/audit?${parameters.toString()}`
  return (await ask<{ readonly events: readonly AuditEvent[] }>(path, signal ? { signal } : {})).events
}

/** The entry that an event is about: `_contexts/3`, `3/590`. */
export function placeOf({ detail: { context, entry } }: AuditEvent): string | undefined {
  if (typeof entry === 'string' && entry.includes('/')) return entry
  return context === undefined || entry === undefined ? undefined : `${context}/${entry}`
}

/** The context that an event is about. */
export function contextOf(event: AuditEvent): string | undefined {
  const { context } = event.detail
  const [ofEntry] = placeOf(event)?.split('/') ?? []
  return context === undefined ? ofEntry : String(context)
}

/** A role that somebody got or lost. */
export interface Difference {
  readonly isGiven: boolean
  readonly slot: string
  readonly principal: string
}

/** What an event changed in an access list or in the members of a group. */
export function differencesIn({ event, detail: { before, after } }: AuditEvent): readonly Difference[] {
  if (event !== 'access-changed' && event !== 'members-changed') return []
  const [earlier, later] = [before, after].map(list => namedIn(String(list ?? '')))
  const missingIn = (others: readonly string[] = [], all: readonly string[] = [], isGiven: boolean): Difference[] =>
    all
      .filter(one => !others.includes(one))
      .map(one => {
        const [slot = '', principal = ''] = one.split(' ')
        return { isGiven, slot, principal }
      })
  return [...missingIn(earlier, later, true), ...missingIn(later, earlier, false)]
}

/** `admin: 5, 7; mread: _users` or `5, 7` as `admin 5`, `admin 7`, `mread _users`; a list that was cut has no last name. */
const namedIn = (text: string): string[] =>
  text.split('; ').flatMap(list => {
    const [slot, ids] = list.includes(': ') ? list.split(': ') : ['member', list]
    return (ids ?? '')
      .split(', ')
      .filter(id => /^[\w-]+$/.test(id))
      .map(id => `${slot} ${id}`)
  })

/** The entry of a place: a folder as `context/id`, or a context. */
const entryOf = (place: string): string => (place.includes('/') ? place : `_contexts/${place}`)

/** What people call whom and what events are about, by place. @throws {Problem} */
export async function labelsOfEvents(
  events: readonly AuditEvent[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const places = events.flatMap(event => {
    const { group, user, from, to } = event.detail
    const people = [
      event.userId,
      event.actorId,
      user === undefined ? undefined : String(user),
      ...differencesIn(event).map(({ principal }) => principal),
    ]
    const context = contextOf(event)
    return [
      ...people.flatMap(id => (id === undefined ? [] : [`_principals/${id}`])),
      ...(typeof group === 'string' && group.includes('/') ? [group] : []),
      ...(context === undefined || context.startsWith('_') ? [] : [`_contexts/${context}`]),
      placeOf(event) ?? [],
      ...[from, to].flatMap(place => (typeof place === 'string' ? entryOf(place) : [])),
    ].flat()
  })
  return await labelsOf(places, signal)
}
