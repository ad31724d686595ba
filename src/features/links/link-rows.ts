import type { Milliseconds } from '../../base/units.ts'
import type { EntryAddress } from '../../model/addresses.ts'
import type { Queries } from '../../stores/database.ts'
import { sql } from '../../stores/sql.ts'
import type { Migration } from '../../stores/migrations.ts'

/** A public link. The store has a digest of its secret, by which it is found, and the sealed secret. */
export interface PublicLink {
  readonly id: string
  /** The file or folder that it opens. */
  readonly place: EntryAddress
  /** When the entry of the link was created: a later entry can have the same id. */
  readonly entryCreated: Milliseconds
  /** A note by which its creator recognises it. */
  readonly name: string | undefined
  /** The hash of its password. */
  readonly password: string | undefined
  readonly expires: Milliseconds | undefined
  readonly maxDownloads: number | undefined
  readonly downloads: number
  /** Id of a user. */
  readonly createdBy: string
  readonly created: Milliseconds
  readonly lastUsed: Milliseconds | undefined
  /** The secret, for its creator; absent for older links. */
  readonly sealed: string | undefined
}

interface Row {
  readonly id: string
  readonly context: string
  readonly entry: string
  readonly entry_created: number
  readonly name: string | null
  readonly password: string | null
  readonly expires: number | null
  readonly max_downloads: number | null
  readonly downloads: number
  readonly created_by: string
  readonly created: number
  readonly last_used: number | null
  readonly sealed: string | null
}

const columns = sql`id, context, entry, entry_created, name, password, expires, max_downloads, downloads, created_by,
  created, last_used, sealed`

const linkOf = (row: Row): PublicLink => ({
  id: row.id,
  place: { context: row.context, id: row.entry },
  entryCreated: row.entry_created,
  name: row.name ?? undefined,
  password: row.password ?? undefined,
  expires: row.expires ?? undefined,
  maxDownloads: row.max_downloads ?? undefined,
  downloads: row.downloads,
  createdBy: row.created_by,
  created: row.created,
  lastUsed: row.last_used ?? undefined,
  sealed: row.sealed ?? undefined,
})

/** @param digest of the secret */
export async function insertLink(tx: Queries, link: PublicLink, digest: string): Promise<void> {
  await tx.run(sql`INSERT INTO public_links (digest, ${columns}) VALUES (${digest}, ${link.id}, ${link.place.context},
    ${link.place.id}, ${link.entryCreated}, ${link.name ?? null}, ${link.password ?? null}, ${link.expires ?? null},
    ${link.maxDownloads ?? null}, ${link.downloads}, ${link.createdBy}, ${link.created}, ${link.lastUsed ?? null},
    ${link.sealed ?? null})`)
}

/** Writes the members that can change. */
export async function updateLink(tx: Queries, link: PublicLink): Promise<void> {
  await tx.run(sql`UPDATE public_links SET name = ${link.name ?? null}, password = ${link.password ?? null},
    expires = ${link.expires ?? null}, max_downloads = ${link.maxDownloads ?? null} WHERE id = ${link.id}`)
}

export async function deleteLink(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM public_links WHERE id = ${id}`)
}

export async function findLink(queries: Queries, id: string): Promise<PublicLink | undefined> {
  const row = await queries.get<Row>(sql`SELECT ${columns} FROM public_links WHERE id = ${id}`)
  return row && linkOf(row)
}

/** A link with the digest of its secret, by that digest or by its id. */
export interface KeyedLink {
  readonly link: PublicLink
  readonly digest: string
}

export async function findKeyedLink(
  queries: Queries,
  by: { readonly digest: string } | { readonly id: string },
): Promise<KeyedLink | undefined> {
  const where = 'digest' in by ? sql`digest = ${by.digest}` : sql`id = ${by.id}`
  const row = await queries.get<Row & { readonly digest: string }>(
    sql`SELECT digest, ${columns} FROM public_links WHERE ${where}`,
  )
  return row && { link: linkOf(row), digest: row.digest }
}

/** The links of one entry, the latest first. */
export async function linksOf(queries: Queries, { context, id }: EntryAddress, created: number): Promise<PublicLink[]> {
  const rows = await queries.all<Row>(sql`SELECT ${columns} FROM public_links
    WHERE context = ${context} AND entry = ${id} AND entry_created = ${created} ORDER BY created DESC, id`)
  return rows.map(linkOf)
}

interface LinkPage {
  readonly links: readonly PublicLink[]
  /** How many there are on all pages. */
  readonly results: number
}

/** The links that a user created, or those of all users, the latest first. */
export async function linksBy(
  queries: Queries,
  creator: string | undefined,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<LinkPage> {
  const where = creator === undefined ? sql`1 = 1` : sql`created_by = ${creator}`
  const rows = await queries.all<Row>(
    sql`SELECT ${columns} FROM public_links WHERE ${where} ORDER BY created DESC, id LIMIT ${limit} OFFSET ${offset}`,
  )
  const row = await queries.get<{ count: number }>(sql`SELECT count(*) AS count FROM public_links WHERE ${where}`)
  return { links: rows.map(linkOf), results: row?.count ?? 0 }
}

/**
 * Counts a download unless the limit is reached or the link has expired. The database decides, so parallel requests on any
 * number of nodes never exceed the limit. False when nothing was counted.
 */
export async function countDownload(tx: Queries, id: string, now: Milliseconds): Promise<boolean> {
  const row = await tx.get(sql`UPDATE public_links SET downloads = downloads + 1, last_used = ${now}
    WHERE id = ${id} AND (max_downloads IS NULL OR downloads < max_downloads) AND (expires IS NULL OR expires > ${now})
    RETURNING id`)
  return row !== undefined
}

/** Deletes links that expired before this moment, and those whose entry no longer exists, not even in the trash. */
export async function deleteDeadLinks(queries: Queries, before: Milliseconds): Promise<void> {
  await queries.run(sql`DELETE FROM public_links WHERE expires < ${before}`)
  await queries.run(sql`DELETE FROM public_links WHERE NOT EXISTS (SELECT 1 FROM entries e
      WHERE e.context = public_links.context AND e.id = public_links.entry AND e.created = public_links.entry_created)
    AND NOT EXISTS (SELECT 1 FROM trashed_entries t
      WHERE t.context = public_links.context AND t.id = public_links.entry AND t.created = public_links.entry_created)`)
}

/** Schema migrations for the table that only this module uses. */
export const linkSteps: readonly Migration[] = [
  {
    id: 25,
    name: 'public links',
    statements: [
      // Not a reference to `entries`, because a link stays while its entry is in the trash. `entry_created` distinguishes the entry from a
      // later entry with the same id.
      sql`CREATE TABLE public_links (
        id TEXT PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        context TEXT NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
        entry TEXT NOT NULL,
        entry_created BIGINT NOT NULL,
        name TEXT,
        password TEXT,
        expires BIGINT,
        max_downloads BIGINT,
        downloads BIGINT NOT NULL DEFAULT 0,
        created_by TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        created BIGINT NOT NULL,
        last_used BIGINT
      )`,
      sql`CREATE INDEX public_links_by_entry ON public_links (context, entry)`,
      sql`CREATE INDEX public_links_by_creator ON public_links (created_by, created)`,
      sql`CREATE INDEX public_links_by_age ON public_links (created)`,
    ],
  },
  {
    id: 50,
    name: 'sealed secrets of public links',
    // Absent for earlier links, whose secret nobody can read again.
    statements: [sql`ALTER TABLE public_links ADD COLUMN sealed TEXT`],
  },
]
