import { type LoggedChange, postgresTrigger, sqliteTrigger } from '../../stores/change-log.ts'
import type { Migration } from '../../stores/migrations.ts'
import { sql } from '../../stores/sql.ts'

/** Whether a user has a factor is cached with the user. A use of a factor changes nothing that a cache holds. */
const changes: readonly LoggedChange[] = [
  { table: 'second_factors', event: 'INSERT', subjects: [`'_principals/' || NEW.user_id`] },
  { table: 'second_factors', event: 'DELETE', subjects: [`'_principals/' || OLD.user_id`] },
]

/** The step that creates the tables. */
export const FACTOR_STEP = 27

/** Schema migrations for the tables of second factors. */
export const factorSteps: readonly Migration[] = [
  {
    id: FACTOR_STEP,
    name: 'second factors and recovery codes',
    statements: [
      // `secret` is a sealed secret of TOTP, or the public key of a passkey.
      sql`CREATE TABLE second_factors (
        id TEXT PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        secret TEXT NOT NULL,
        credential_id TEXT UNIQUE,
        counter BIGINT NOT NULL DEFAULT 0,
        user_handle TEXT,
        transports TEXT,
        syncable INTEGER,
        created BIGINT NOT NULL,
        last_used BIGINT
      )`,
      sql`CREATE INDEX second_factors_by_user ON second_factors (user_id)`,
      sql`CREATE TABLE recovery_codes (
        user_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        digest TEXT NOT NULL,
        PRIMARY KEY (user_id, digest)
      )`,
      {
        sqlite: changes.map(sqliteTrigger),
        postgres: [],
      },
    ],
  },
  {
    id: 34,
    name: 'change log of second factors on PostgreSQL',
    statements: [{ sqlite: [], postgres: changes.flatMap(postgresTrigger) }],
  },
]
