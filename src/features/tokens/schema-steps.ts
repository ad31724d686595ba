import type { Migration } from '../../stores/migrations.ts'
import { sql } from '../../stores/sql.ts'

export const tokenSteps: readonly Migration[] = [
  {
    id: 23,
    name: 'access tokens',
    statements: [
      sql`CREATE TABLE access_tokens (
        id TEXT PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        user_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        scopes TEXT NOT NULL,
        contexts TEXT,
        addresses TEXT,
        created BIGINT NOT NULL,
        expires BIGINT NOT NULL,
        last_used BIGINT,
        last_address TEXT
      )`,
      sql`CREATE INDEX access_tokens_by_user ON access_tokens (user_id)`,
    ],
  },
]
