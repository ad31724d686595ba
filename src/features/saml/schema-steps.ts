import type { Migration } from '../../stores/migrations.ts'
import { sql } from '../../stores/sql.ts'

export const samlSteps: readonly Migration[] = [
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
