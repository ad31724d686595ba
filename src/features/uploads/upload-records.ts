import type { System } from '../../base/system.ts'
import { RESERVATION_TTL } from '../../files/quota-ledger.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { databaseTime, listed, type Sql, sql } from '../../stores/sql.ts'
import { uploadsTo } from './ended-uploads.ts'
import { type ListedUpload, withLists } from './listed-uploads.ts'
import { type ResumableUpload, unknownUpload } from './resumable-upload.ts'

interface Dependencies {
  readonly database: Database
  readonly system: System
}

/** Finds resumable uploads. `resumable-files.ts` writes them. */
export class UploadRecords {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @throws {NotFound} */
  async find(id: string, queries: Queries = this.#deps.database): Promise<ResumableUpload> {
    const upload = await queries.get<ResumableUpload>(
      sql`SELECT ${this.#columns} FROM resumable_uploads WHERE id = ${id}`,
    )
    if (!upload) throw unknownUpload()
    return upload
  }

  /** Uploads of a user that can go on, the latest first. @param among.contexts ids of the only contexts whose uploads count */
  async unfinishedOf(
    uploader: string,
    among: { readonly limit: number; readonly offset: number; readonly contexts: readonly string[] | undefined },
  ): Promise<{ readonly uploads: readonly ListedUpload[]; readonly results: number }> {
    const { limit, offset, contexts } = among
    const where = contexts
      ? sql`${this.#isUnfinished(uploader)} AND context IN (${listed(contexts)})`
      : this.#isUnfinished(uploader)
    const { database } = this.#deps
    const uploads = await database.all<ResumableUpload>(sql`SELECT ${this.#columns} FROM resumable_uploads
      WHERE ${where} ORDER BY expires DESC, id LIMIT ${limit} OFFSET ${offset}`)
    return { uploads: await withLists(database, uploads), results: await countUploads(database, where) }
  }

  /** The number of uploads of a user that can go on. */
  async countUnfinished(queries: Queries, uploader: string): Promise<number> {
    return await countUploads(queries, this.#isUnfinished(uploader))
  }

  /** An upload that has been joined of parts before, by the same request, so that the request can be repeated. */
  async findJoined(
    uploader: string,
    entry: { readonly context: string; readonly id: string },
    concat: string,
  ): Promise<ResumableUpload | undefined> {
    return await this.#deps.database.get<ResumableUpload>(sql`SELECT ${this.#columns} FROM resumable_uploads
      WHERE uploader = ${uploader} AND ${uploadsTo(entry)} AND concat = ${concat} AND expires >= ${this.now}`)
  }

  /** Expired uploads for which an entry was created that may still be there. */
  async withUnusedEntries(): Promise<ResumableUpload[]> {
    return await this.#deps.database.all<ResumableUpload>(sql`SELECT ${this.#columns} FROM resumable_uploads
      WHERE new_entry = 1 AND is_done = 0 AND expires < ${this.now}`)
  }

  /** Whether the upload still exists; then its entry is the one for which it was begun. */
  async isThere(tx: Queries, { id }: ResumableUpload): Promise<boolean> {
    return (await tx.get(sql`SELECT 1 AS found FROM resumable_uploads WHERE id = ${id}`)) !== undefined
  }

  /** Whether another upload to the same entry can still be continued. */
  async isExpected(queries: Queries, { id, context, entry }: ResumableUpload): Promise<boolean> {
    const found = await queries.get(sql`SELECT 1 AS found FROM resumable_uploads
      WHERE ${uploadsTo({ context, id: entry })} AND id <> ${id} AND is_done = 0 AND expires >= ${this.now}`)
    return found !== undefined
  }

  /** A condition: some request holds the upload. */
  get isClaimed(): Sql {
    return sql`(claim IS NOT NULL AND claimed + ${RESERVATION_TTL} >= ${this.now})`
  }

  /** The present time of the database. */
  get now(): Sql {
    return databaseTime(this.#deps.database, this.#deps.system)
  }

  get #columns(): Sql {
    return sql`id, uploader, context, entry, blob, length, received, media_type AS "mediaType", file_name AS "fileName",
      metadata, concat, is_part AS "isPartial", new_entry AS "isEntryNew", is_done AS "isDone", expires,
      CASE WHEN is_done = 0 AND expires < ${this.now} THEN 1 ELSE 0 END AS "isExpired",
      CASE WHEN ${this.isClaimed} THEN 1 ELSE 0 END AS "isClaimed"`
  }

  #isUnfinished(uploader: string): Sql {
    return sql`uploader = ${uploader} AND is_done = 0 AND expires >= ${this.now}`
  }
}

async function countUploads(queries: Queries, where: Sql): Promise<number> {
  const row = await queries.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM resumable_uploads WHERE ${where}`)
  return row?.count ?? 0
}
