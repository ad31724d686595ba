import type { Migration } from '../stores/migrations.ts'
import { sql } from '../stores/sql.ts'

/** Schema migrations for the tables that only this module uses. */
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
  {
    id: 31,
    name: 'identity providers of federations',
    statements: [
      sql`CREATE TABLE sso_entities (
        provider TEXT NOT NULL,
        entity_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        listed TEXT NOT NULL,
        entity TEXT NOT NULL,
        fresh BIGINT,
        PRIMARY KEY (provider, entity_id)
      )`,
    ],
  },
]
