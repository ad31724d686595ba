import type { Caller } from '../../accounts/caller.ts'
import type { UserCache } from '../../accounts/user-cache.ts'
import type { Client } from '../../accounts/sessions.ts'
import type { Milliseconds } from '../../base/units.ts'
import { NotFound } from '../../base/errors.ts'
import { type Entry, holdsFile, isList } from '../../model/entry.ts'
import { type EntryInContext, may } from '../../model/rights.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import type { PublicLink } from './link-rows.ts'

/** `gone`: its entry is deleted or in the trash, or its creator no longer has the right. */
export const linkStates = ['active', 'expired', 'used-up', 'gone'] as const
export type LinkState = (typeof linkStates)[number]

/** Links are for what people see as files and folders. */
export const isLinkable = (entry: Entry): boolean => holdsFile(entry) || isList(entry)

/** The entry that a link opens; `undefined` when it is deleted or in the trash. */
export async function findLinked(
  loader: EntryLoader,
  { place, entryCreated }: PublicLink,
): Promise<EntryInContext | undefined> {
  try {
    const target = await loader.get({ context: place.context, entry: place.id })
    return target.entry.created === entryCreated ? target : undefined
  } catch (error) {
    if (error instanceof NotFound) return undefined
    throw error
  }
}

/** The creator of a link as they are now, in the place of a visitor; `undefined` when disabled or deleted. */
export async function findCreator(
  users: UserCache,
  { createdBy }: PublicLink,
  client: Client,
): Promise<Caller | undefined> {
  const known = await users.find(createdBy)
  return known && !known.user.disabled ? { ...known, client } : undefined
}

/** A link works as long as its creator may administer the linked entry, as they could when they created the link. */
export function stateOf(
  link: PublicLink,
  target: EntryInContext | undefined,
  creator: Caller | undefined,
  now: Milliseconds,
): LinkState {
  if (!target || !creator || !may(creator, 'administer', target) || !isLinkable(target.entry)) return 'gone'
  return limitOf(link, now) ?? 'active'
}

/** Which of its own limits a link has reached. */
export function limitOf(
  { expires, maxDownloads, downloads }: PublicLink,
  now: Milliseconds,
): 'expired' | 'used-up' | undefined {
  if (expires !== undefined && expires <= now) return 'expired'
  return maxDownloads !== undefined && downloads >= maxDownloads ? 'used-up' : undefined
}
