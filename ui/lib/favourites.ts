import { useLayoutEffect, useState } from 'preact/hooks'
import { ask, askTagged } from './api.ts'
import { part } from './base.ts'
import { keyOf } from './everything.ts'
import { escape, type Item, search } from './files.ts'
import { currentBaseUri, type Me } from './session.ts'

/** Files and folders that the user finds again on the first page. The service keeps them with the user, as a property of theirs. */

interface UserResource {
  readonly customProperties?: Readonly<Record<string, string>>
}

const PROPERTY = 'favourites'
/** A page with more is no shorter way to anything. */
export const MAX_FAVOURITES = 50

type Place = Pick<Item, 'context' | 'entryId'>

const changed = new EventTarget()
const CHANGE = 'change'
let known: readonly string[] | undefined
let loading: Promise<unknown> | undefined

const path = ({ id }: Me): string => `_principals/resource/${part(id)}`

/** `3/12` for each, the latest first. */
const placesIn = ({ customProperties = {} }: UserResource): readonly string[] =>
  (customProperties[PROPERTY] ?? '').split(' ').filter(place => place.includes('/'))

function set(places: readonly string[]): void {
  known = places
  changed.dispatchEvent(new Event(CHANGE))
}

/** @throws {Problem} */
async function load(me: Me): Promise<readonly string[]> {
  const places = placesIn(await ask<UserResource>(path(me)))
  set(places)
  return places
}

export interface Favourites {
  readonly has: (item: Place) => boolean
  /** Adds or removes an item. @throws {Problem} */
  readonly toggle: (item: Place) => Promise<void>
}

/** The favourites of the user, now and after every change. They are no reason to disturb anyone: a failure to read them shows none. */
export function useFavourites(me: Me): Favourites {
  const [, draw] = useState(0)
  useLayoutEffect(() => {
    const redraw = (): void => draw(number => number + 1)
    changed.addEventListener(CHANGE, redraw)
    if (!known) loading ??= load(me).catch(() => (loading = undefined))
    return () => changed.removeEventListener(CHANGE, redraw)
  }, [])
  return { has: item => known?.includes(keyOf(item)) === true, toggle: item => toggleFavourite(me, item) }
}

/** Adds or removes an item. @throws {Problem} */
export async function toggleFavourite(me: Me, item: Place): Promise<void> {
  // Read again: another page may have changed them, and the other properties stay as they are.
  const { value, tag } = await askTagged<UserResource>(path(me))
  const before = placesIn(value)
  const place = keyOf(item)
  const after = before.includes(place) ? before.filter(one => one !== place) : [place, ...before]
  const properties = { ...value.customProperties, [PROPERTY]: after.slice(0, MAX_FAVOURITES).join(' ') }
  await ask(path(me), { method: 'PUT', json: { customProperties: properties }, ifMatch: tag })
  set(after)
}

/** The favourites that exist and that the user may read, the latest first. @throws {Problem} */
export async function loadFavourites(me: Me, signal: AbortSignal): Promise<readonly Item[]> {
  const places = await load(me)
  if (places.length === 0) return []
  const uris = places.map(place => {
    const [context = '', entry = ''] = place.split('/')
    return `uri:${escape(`${currentBaseUri()}${part(context)}/entry/${part(entry)}`)}`
  })
  const { items } = await search(uris.join(' OR '), 'name asc', 0, signal)
  return places.flatMap(place => items.find(item => keyOf(item) === place) ?? [])
}
