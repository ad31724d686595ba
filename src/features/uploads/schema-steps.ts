import { expireReservations } from '../../files/reservations.ts'
import type { Migration } from '../../stores/migrations.ts'
import { sql } from '../../stores/sql.ts'

/** The steps of the schema for uploads in several requests. A released step never changes; new ones are appended. */
export const uploadSteps: readonly Migration[] = [
  {
    id: 52,
    name: 'uploads in several requests',
    statements: [
      // Their reservations are in `uploads`. `received` bytes are durable; `expires` counts from the last of them. `claim` names the
      // request that is adding bytes, `claimed` is when it last did.
      sql`CREATE TABLE resumable_uploads (
        id TEXT PRIMARY KEY,
        uploader TEXT NOT NULL,
        context TEXT NOT NULL,
        entry TEXT NOT NULL,
        blob TEXT NOT NULL,
        length BIGINT NOT NULL,
        received BIGINT NOT NULL DEFAULT 0,
        media_type TEXT NOT NULL,
        file_name TEXT,
        is_part INTEGER NOT NULL DEFAULT 0,
        is_done INTEGER NOT NULL DEFAULT 0,
        expires BIGINT NOT NULL,
        claim TEXT,
        claimed BIGINT NOT NULL DEFAULT 0
      )`,
      sql`CREATE INDEX resumable_uploads_by_uploader ON resumable_uploads (uploader)`,
      sql`CREATE INDEX resumable_uploads_by_blob ON resumable_uploads (blob)`,
    ],
  },
  {
    id: 54,
    name: 'entries created for uploads in several requests',
    // 1: the entry is deleted with the upload.
    statements: [sql`ALTER TABLE resumable_uploads ADD COLUMN new_entry INTEGER NOT NULL DEFAULT 0`],
  },
  {
    id: 57,
    name: 'headers of the creation of uploads in several requests',
    statements: [
      // `Upload-Metadata`, and `Upload-Concat` of one that is joined of parts, as they were sent.
      sql`ALTER TABLE resumable_uploads ADD COLUMN metadata TEXT`,
      sql`ALTER TABLE resumable_uploads ADD COLUMN concat TEXT`,
    ],
  },
  {
    id: 58,
    name: 'uploads in several requests that end with their entry and their user',
    statements: [
      // Deletes uploads whose entry is gone, or whose reservation counts for another user than the creator of the entry: the next start
      // releases their reservations.
      sql`CREATE TABLE kept_uploads AS SELECT r.* FROM resumable_uploads r
        JOIN entries e ON e.context = r.context AND e.id = r.entry
        JOIN principals p ON p.id = r.uploader
        LEFT JOIN uploads u ON u.blob = r.blob
        WHERE u.user_id IS NULL OR u.user_id = e.creator`,
      expireReservations(sql`blob IN (SELECT blob FROM resumable_uploads WHERE is_done = 0)
        AND blob NOT IN (SELECT blob FROM kept_uploads)`),
      sql`DROP TABLE resumable_uploads`,
      // The columns of before. The references refuse to delete an entry or a user before their uploads, so no upload outlives them, and none
      // is found again under an id that belongs to another entry by then.
      sql`CREATE TABLE resumable_uploads (
        id TEXT PRIMARY KEY,
        uploader TEXT NOT NULL REFERENCES principals (id),
        context TEXT NOT NULL,
        entry TEXT NOT NULL,
        blob TEXT NOT NULL,
        length BIGINT NOT NULL,
        received BIGINT NOT NULL DEFAULT 0,
        media_type TEXT NOT NULL,
        file_name TEXT,
        is_part INTEGER NOT NULL DEFAULT 0,
        new_entry INTEGER NOT NULL DEFAULT 0,
        is_done INTEGER NOT NULL DEFAULT 0,
        expires BIGINT NOT NULL,
        claim TEXT,
        claimed BIGINT NOT NULL DEFAULT 0,
        metadata TEXT,
        concat TEXT,
        FOREIGN KEY (context, entry) REFERENCES entries (context, id)
      )`,
      // The entry may not be the one for which the upload was begun, so no entry is deleted with an upload.
      sql`INSERT INTO resumable_uploads (id, uploader, context, entry, blob, length, received, media_type, file_name, is_part, is_done,
          expires, claim, claimed, metadata, concat)
        SELECT id, uploader, context, entry, blob, length, received, media_type, file_name, is_part, is_done, expires, claim, claimed,
          metadata, concat FROM kept_uploads`,
      sql`DROP TABLE kept_uploads`,
      sql`CREATE INDEX resumable_uploads_by_uploader ON resumable_uploads (uploader)`,
      sql`CREATE INDEX resumable_uploads_by_blob ON resumable_uploads (blob)`,
      sql`CREATE INDEX resumable_uploads_by_entry ON resumable_uploads (context, entry)`,
    ],
  },
]
