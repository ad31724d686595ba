import type { Migration } from '../../stores/migrations.ts'
import { sql } from '../../stores/sql.ts'

/** Metadata that providers of all protocols have published. */
export const ssoSteps: readonly Migration[] = [
  {
    id: 15,
    name: 'metadata of identity providers',
    statements: [
      sql`CREATE TABLE sso_metadata (
        provider TEXT PRIMARY KEY,
        url TEXT NOT NULL,
        metadata TEXT NOT NULL,
        loaded BIGINT NOT NULL
      )`,
    ],
  },
]
