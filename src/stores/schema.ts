import type { Migration } from './migrations.ts'
import { sql } from './sql.ts'

/** Of an entry, also in the trash. */
const entryColumns = sql`context TEXT NOT NULL REFERENCES contexts (id),
        id TEXT NOT NULL,
        entry_type TEXT NOT NULL,
        graph_type TEXT NOT NULL,
        resource_type TEXT NOT NULL,
        resource_uri TEXT,
        external_metadata TEXT,
        created BIGINT NOT NULL,
        modified BIGINT NOT NULL,
        creator TEXT,
        contributors TEXT NOT NULL,
        acl TEXT NOT NULL,
        statements TEXT NOT NULL,
        metadata TEXT NOT NULL,
        cached_external_metadata TEXT,
        cached BIGINT,
        content TEXT,
        PRIMARY KEY (context, id)`

/** Of a revision, also in the trash. */
const revisionColumns = sql`context TEXT NOT NULL,
        entry TEXT NOT NULL,
        number BIGINT NOT NULL,
        time BIGINT NOT NULL,
        author TEXT NOT NULL,
        metadata TEXT NOT NULL,
        PRIMARY KEY (context, entry, number)`

/**
 * The tables shared by the modules, as a list of migrations; `assembly/stores.ts` adds those of other modules. A released
 * migration never changes; new ones are appended. The SQL works in SQLite and PostgreSQL unless stated otherwise: booleans
 * are 0 or 1, times are milliseconds, RDF and lists are JSON text.
 */
export const commonSteps: readonly Migration[] = [
  {
    id: 1,
    name: 'principals, contexts, entries, files',
    statements: [
      // Users and groups share one set of names; the database rejects duplicates (D1.7).
      sql`CREATE TABLE principals (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('user', 'group')),
        name TEXT UNIQUE,
        password TEXT,
        epoch BIGINT NOT NULL DEFAULT 1,
        disabled INTEGER NOT NULL DEFAULT 0,
        language TEXT,
        home_context TEXT,
        custom_properties TEXT NOT NULL DEFAULT '{}'
      )`,
      sql`CREATE TABLE group_members (
        group_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        user_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        position BIGINT NOT NULL,
        PRIMARY KEY (group_id, user_id)
      )`,
      sql`CREATE INDEX group_members_by_user ON group_members (user_id)`,
      sql`CREATE TABLE contexts (
        id TEXT PRIMARY KEY,
        name TEXT UNIQUE,
        last_number BIGINT NOT NULL DEFAULT 0
      )`,
      sql`CREATE TABLE entries (
        ${entryColumns}
      )`,
      // The id of a deleted user, group or context is never reused: rights given to it must not pass to a new one.
      sql`CREATE TABLE retired_ids (
        context TEXT NOT NULL,
        id TEXT NOT NULL,
        PRIMARY KEY (context, id)
      )`,
      sql`CREATE TABLE spaces (
        context TEXT PRIMARY KEY,
        quota BIGINT,
        used BIGINT NOT NULL DEFAULT 0,
        reserved BIGINT NOT NULL DEFAULT 0
      )`,
      sql`CREATE TABLE files (
        context TEXT NOT NULL,
        entry TEXT NOT NULL,
        blob TEXT NOT NULL UNIQUE,
        size BIGINT NOT NULL,
        sha256 TEXT NOT NULL,
        PRIMARY KEY (context, entry)
      )`,
      // An upload in progress: the storage that it reserves and the blob that it writes, so that a crash leaves nothing
      // behind.
      sql`CREATE TABLE uploads (
        blob TEXT PRIMARY KEY,
        context TEXT NOT NULL,
        reserved BIGINT NOT NULL,
        expires BIGINT NOT NULL
      )`,
      // Blobs that no file needs any more, recorded in the transaction that discards them and deleted right after it.
      sql`CREATE TABLE discarded_blobs (blob TEXT PRIMARY KEY)`,
    ],
  },
  {
    id: 2,
    name: 'lockouts, trusted devices, password reset, audit',
    statements: [
      // Part of the name under which wrong passwords are counted: raising it lifts a lockout on every node.
      sql`ALTER TABLE principals ADD COLUMN unlocks BIGINT NOT NULL DEFAULT 0`,
      sql`CREATE TABLE trusted_devices (
        digest TEXT PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        last_used BIGINT NOT NULL
      )`,
      sql`CREATE INDEX trusted_devices_by_user ON trusted_devices (user_id)`,
      sql`CREATE TABLE password_resets (
        digest TEXT PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        epoch BIGINT NOT NULL,
        expires BIGINT NOT NULL
      )`,
      // No references: events remain on record when their user is deleted.
      sql`CREATE TABLE audit (
        time BIGINT NOT NULL,
        number BIGINT NOT NULL,
        event TEXT NOT NULL,
        user_id TEXT,
        user_name TEXT,
        actor_id TEXT,
        address TEXT,
        detail TEXT NOT NULL,
        PRIMARY KEY (time, number)
      )`,
      sql`CREATE INDEX audit_by_user ON audit (user_id, time, number)`,
      // Finds the few lists of a context among its many entries.
      sql`CREATE INDEX entries_by_type ON entries (context, graph_type)`,
    ],
  },
  {
    id: 3,
    name: 'lists and relations',
    statements: [
      // The primary key enforces the rule: an entry is a member of at most one list.
      sql`CREATE TABLE list_members (
        context TEXT NOT NULL,
        member TEXT NOT NULL,
        list TEXT NOT NULL,
        position BIGINT NOT NULL,
        PRIMARY KEY (context, member)
      )`,
      sql`CREATE INDEX list_members_by_list ON list_members (context, list, position)`,
      // Converts lists from JSON arrays of ids, which contain neither brackets nor commas, character by character. An entry
      // in several lists stays in the oldest. No such store exists in PostgreSQL.
      {
        sqlite: [
          sql`INSERT INTO list_members (context, member, list, position)
            WITH RECURSIVE walk (context, list, created, content, place, word) AS (
              SELECT context, id, created, content, 1, CAST('' AS TEXT) FROM entries
                WHERE entry_type = 'Local' AND graph_type IN ('List', 'ResultList') AND content IS NOT NULL
              UNION ALL
              SELECT context, list, created, content, place + 1,
                  CASE WHEN substr(content, place, 1) = '"' THEN '' ELSE word || substr(content, place, 1) END
                FROM walk WHERE place <= length(content)
            )
            SELECT w.context, w.word, w.list, w.place FROM walk w
              JOIN entries e ON e.context = w.context AND e.id = w.word
              WHERE substr(w.content, w.place, 1) = '"'
              ORDER BY w.created, w.list, w.place
            ON CONFLICT DO NOTHING`,
        ],
        postgres: [],
      },
      // Statements in metadata and info of one entry about another, indexed from both ends.
      sql`CREATE TABLE relations (
        target_context TEXT NOT NULL,
        target TEXT NOT NULL,
        source_context TEXT NOT NULL,
        source TEXT NOT NULL,
        part TEXT NOT NULL CHECK (part IN ('info', 'metadata')),
        subject TEXT NOT NULL,
        predicate TEXT NOT NULL,
        object TEXT NOT NULL
      )`,
      sql`CREATE INDEX relations_by_target ON relations (target_context, target)`,
      sql`CREATE INDEX relations_by_source ON relations (source_context, source)`,
      sql`CREATE INDEX principals_by_home ON principals (home_context, id)`,
      // Work on rows that needs more than SQL, left for the next start.
      sql`CREATE TABLE pending_work (name TEXT PRIMARY KEY)`,
      sql`INSERT INTO pending_work (name) SELECT 'relations' FROM contexts WHERE id = '_contexts'`,
    ],
  },
  {
    id: 6,
    name: 'revisions of metadata, uploads of several parts',
    statements: [
      // Every deletion of an entry also deletes its revisions, because its id may be reused.
      sql`CREATE TABLE metadata_revisions (
        ${revisionColumns},
        FOREIGN KEY (context, entry) REFERENCES entries (context, id) ON DELETE CASCADE
      )`,
      // The blob of the upload that this one belongs to. That upload holds the reservation and is renewed and ended for
      // both.
      sql`ALTER TABLE uploads ADD COLUMN part_of TEXT`,
      sql`CREATE INDEX uploads_by_whole ON uploads (part_of)`,
    ],
  },
  {
    id: 7,
    name: 'lookup by resource',
    statements: [
      // Only the beginning: databases limit the length of a key, and a URI may be longer.
      sql`CREATE INDEX entries_by_resource ON entries (substr(resource_uri, 1, 500), context, created, id)
        WHERE resource_uri IS NOT NULL`,
    ],
  },
  {
    id: 8,
    name: 'sessions that outlive the process',
    statements: [
      // Keys are MACs of tokens or contain a user id; the tokens in the values are sealed.
      sql`CREATE TABLE ephemeral (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL,
        expires BIGINT NOT NULL
      )`,
      sql`CREATE INDEX ephemeral_by_end ON ephemeral (expires)`,
    ],
  },
  {
    id: 9,
    name: 'holds on blobs',
    statements: [
      // While there is a row, discarded blobs are not deleted, because a backup is copying the files of an earlier moment.
      sql`CREATE TABLE blob_holds (id TEXT PRIMARY KEY, expires BIGINT NOT NULL)`,
    ],
  },
  {
    id: 10,
    name: 'the login by which a user changed his password',
    statements: [sql`ALTER TABLE principals ADD COLUMN spared_login TEXT`],
  },
  {
    id: 12,
    name: 'credit of replacements, verification of files, nodes',
    statements: [
      // The blob that the upload replaces and whose storage it may reuse, at most one upload for each; for an import its
      // context after an asterisk. `credit` is the number of bytes of that storage that it counts on.
      sql`ALTER TABLE uploads ADD COLUMN replaces TEXT`,
      sql`ALTER TABLE uploads ADD COLUMN credit BIGINT NOT NULL DEFAULT 0`,
      sql`CREATE UNIQUE INDEX uploads_by_replaced ON uploads (replaces)`,
      // When the bytes were last compared with their digest, and the problem found: `missing` or `damaged`.
      sql`ALTER TABLE files ADD COLUMN verified BIGINT NOT NULL DEFAULT 0`,
      sql`ALTER TABLE files ADD COLUMN problem TEXT`,
      sql`CREATE INDEX files_by_verified ON files (verified)`,
      sql`CREATE INDEX files_by_problem ON files (problem) WHERE problem IS NOT NULL`,
      // The running nodes, so that an incompatible one is rejected at its start. `facts` is a JSON object.
      sql`CREATE TABLE nodes (id TEXT PRIMARY KEY, seen BIGINT NOT NULL, facts TEXT NOT NULL)`,
    ],
  },
  {
    id: 22,
    name: 'trash',
    statements: [
      // First columns about the move: the entry whose move to the trash took this entry along, when and by whom it was moved, and the list
      // that contained this entry; then the columns of `entries`. The file stays in `files`, so its bytes still count.
      sql`CREATE TABLE trashed_entries (
        root TEXT NOT NULL,
        deleted BIGINT NOT NULL,
        deleted_by TEXT NOT NULL,
        list TEXT,
        position BIGINT,
        ${entryColumns}
      )`,
      sql`CREATE INDEX trashed_entries_by_root ON trashed_entries (context, root)`,
      sql`CREATE INDEX trashed_entries_by_age ON trashed_entries (deleted) WHERE id = root`,
      sql`CREATE TABLE trashed_revisions (
        ${revisionColumns},
        FOREIGN KEY (context, entry) REFERENCES trashed_entries (context, id) ON DELETE CASCADE
      )`,
    ],
  },
  {
    id: 36,
    name: 'entries without an index that no query uses',
    statements: [sql`DROP INDEX entries_by_type`],
  },
  {
    id: 41,
    name: 'who put a member into its list',
    statements: [
      // 0 if the person who added the member did not administer it. For earlier members this is unknown.
      sql`ALTER TABLE list_members ADD COLUMN trusted BIGINT NOT NULL DEFAULT 1`,
      sql`ALTER TABLE trashed_entries ADD COLUMN trusted BIGINT NOT NULL DEFAULT 1`,
    ],
  },
  {
    id: 48,
    name: 'audit events by who caused them',
    statements: [sql`CREATE INDEX audit_by_actor ON audit (actor_id, time, number)`],
  },
  {
    id: 51,
    name: 'quotas of users, of groups of contexts and of the store',
    statements: [
      sql`CREATE TABLE quota_groups (context TEXT PRIMARY KEY, name TEXT NOT NULL)`,
      sql`CREATE INDEX quota_groups_by_name ON quota_groups (name)`,
      // The user for whom the file counts: the creator of its entry, unless that is the guest.
      sql`ALTER TABLE files ADD COLUMN user_id TEXT`,
      sql`CREATE INDEX files_by_user ON files (user_id) WHERE user_id IS NOT NULL`,
      sql`ALTER TABLE uploads ADD COLUMN user_id TEXT`,
      sql`ALTER TABLE uploads ADD COLUMN reserved_files BIGINT NOT NULL DEFAULT 0`,
      // `owner` is the id of a context or user, the name of a group, or empty for the store. `quota` and `max_files` are limits,
      // NULL for that of the settings; `provisioned` is 1 for users who came from an identity provider.
      sql`CREATE TABLE quota_usage (
        kind TEXT NOT NULL CHECK (kind IN ('context', 'user', 'group', 'store')),
        owner TEXT NOT NULL,
        quota BIGINT,
        max_files BIGINT,
        used BIGINT NOT NULL DEFAULT 0,
        files BIGINT NOT NULL DEFAULT 0,
        reserved BIGINT NOT NULL DEFAULT 0,
        reserved_files BIGINT NOT NULL DEFAULT 0,
        provisioned INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (kind, owner)
      )`,
      sql`UPDATE files SET user_id = (SELECT c.creator FROM (
          SELECT e.creator FROM entries e WHERE e.context = files.context AND e.id = files.entry
          UNION ALL SELECT t.creator FROM trashed_entries t WHERE t.context = files.context AND t.id = files.entry
        ) AS c WHERE c.creator IN (SELECT id FROM principals WHERE kind = 'user' AND id <> '_guest'))`,
      sql`INSERT INTO quota_usage (kind, owner, quota, used, files, reserved)
        SELECT 'context', s.context, s.quota, s.used, COALESCE(f.files, 0), s.reserved FROM spaces s
          LEFT JOIN (SELECT context, COUNT(*) AS files FROM files GROUP BY context) f ON f.context = s.context`,
      sql`INSERT INTO quota_usage (kind, owner, used, files)
        SELECT 'user', user_id, SUM(size), COUNT(*) FROM files WHERE user_id IS NOT NULL GROUP BY user_id`,
      sql`DROP TABLE spaces`,
    ],
  },
  {
    id: 60,
    name: 'titles of the users and groups of the system',
    // Only where nobody has written metadata. The tag of the entry is derived from its date, so the date changes too.
    statements: [
      ['_admin', 'Admin user', 'Has all rights.'],
      ['_guest', 'Guest user', 'Stands for everyone who has not signed in.'],
      ['_admins', 'Administrators', 'Members of this group have all rights.'],
      ['_users', 'All users', 'Everyone who has signed in is a member of this group.'],
    ].map(
      ([id = '', title, description]) => sql`UPDATE entries SET modified = modified + 1, metadata = ${JSON.stringify({
        [`./_principals/resource/${id}`]: {
          'http://purl.org/dc/terms/title': [{ type: 'literal', value: title, lang: 'en' }],
          'http://purl.org/dc/terms/description': [{ type: 'literal', value: description, lang: 'en' }],
        },
      })} WHERE context = '_principals' AND id = ${id} AND metadata = '{}'
        AND NOT EXISTS (SELECT 1 FROM metadata_revisions r WHERE r.context = '_principals' AND r.entry = ${id})`,
    ),
  },
  {
    id: 70,
    name: 'folders give access to what is in them',
    statements: [
      // Id of the nearest list above that gives access to the member; NULL where none does.
      sql`ALTER TABLE list_members ADD COLUMN scope TEXT`,
      sql`ALTER TABLE trashed_entries ADD COLUMN scope TEXT`,
      // The start replaces copies of the access list of a folder by entries that follow the folder.
      sql`INSERT INTO pending_work (name) SELECT 'folder-access' FROM contexts WHERE id = '_contexts'`,
    ],
  },
]
