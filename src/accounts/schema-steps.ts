import type { Migration } from '../stores/migrations.ts'
import { sql } from '../stores/sql.ts'

/** Schema migrations for the tables that only this module uses. */
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
  {
    id: 26,
    name: 'memberships that identity providers have given',
    statements: [
      sql`CREATE TABLE provider_memberships (
        user_id TEXT NOT NULL,
        group_id TEXT NOT NULL,
        provider TEXT NOT NULL,
        PRIMARY KEY (user_id, group_id, provider),
        FOREIGN KEY (group_id, user_id) REFERENCES group_members (group_id, user_id) ON DELETE CASCADE
      )`,
    ],
  },
  {
    id: 32,
    name: 'passwords that must be changed at the next sign-in',
    statements: [sql`ALTER TABLE principals ADD COLUMN temporary_password INTEGER NOT NULL DEFAULT 0`],
  },
  {
    id: 39,
    name: 'counts of wrong codes apart from passwords, and the address of a mailed link',
    statements: [
      sql`ALTER TABLE principals ADD COLUMN code_unlocks BIGINT NOT NULL DEFAULT 0`,
      sql`ALTER TABLE password_resets ADD COLUMN address TEXT`,
    ],
  },
  {
    id: 55,
    name: 'what the events of the audit log are about',
    // Earlier events have none, and are not found by it.
    statements: [sql`ALTER TABLE audit ADD COLUMN place TEXT`, sql`CREATE INDEX audit_by_place ON audit (place, time)`],
  },
  {
    id: 73,
    name: 'what the events of the audit log call their entries',
    // Earlier events have none, and are found only by the present name.
    statements: [sql`ALTER TABLE audit ADD COLUMN name TEXT`],
  },
]
