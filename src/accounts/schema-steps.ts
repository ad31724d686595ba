import type { Migration } from '../stores/migrations.ts'
import { sql } from '../stores/sql.ts'

/** Schema migrations for the tables that only this room uses. */
export const accountSteps: readonly Migration[] = [
  {
    id: 14,
    name: 'links between users and identity providers',
    statements: [
      sql`CREATE TABLE sso_links (
        issuer TEXT NOT NULL,
        subject TEXT NOT NULL,
        user_id TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        PRIMARY KEY (issuer, subject)
      )`,
      sql`CREATE INDEX sso_links_by_user ON sso_links (user_id)`,
    ],
  },
]
