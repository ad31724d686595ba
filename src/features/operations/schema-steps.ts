import type { Migration } from '../../stores/migrations.ts'
import { sql } from '../../stores/sql.ts'

/** The steps of the schema for operations. A released step never changes; new ones are appended. */
export const operationSteps: readonly Migration[] = [
  {
    id: 76,
    name: 'operations on many entries',
    statements: [
      // `request` and `credential` are JSON. `position` is that of the last entry that is over. `claim` names the process that carries the
      // operation out, `claimed` is when it last showed that it is alive.
      sql`CREATE TABLE operations (
        id TEXT PRIMARY KEY,
        context TEXT NOT NULL,
        maker TEXT NOT NULL,
        action TEXT NOT NULL,
        request TEXT NOT NULL,
        credential TEXT NOT NULL,
        state TEXT NOT NULL,
        total BIGINT NOT NULL,
        position BIGINT NOT NULL DEFAULT 0,
        failed BIGINT NOT NULL DEFAULT 0,
        failures TEXT NOT NULL DEFAULT '[]',
        code TEXT,
        reason TEXT,
        created BIGINT NOT NULL,
        finished BIGINT,
        claim TEXT,
        claimed BIGINT NOT NULL
      )`,
      sql`CREATE INDEX operations_by_maker ON operations (maker, created)`,
      sql`CREATE INDEX operations_by_context ON operations (context, created)`,
      sql`CREATE INDEX operations_by_state ON operations (state, claimed)`,
      // What is left to do. `list` is the list of the same operation that the entry is in, `copy` the id of its copy.
      sql`CREATE TABLE operation_entries (
        operation TEXT NOT NULL,
        position BIGINT NOT NULL,
        entry TEXT NOT NULL,
        list TEXT,
        copy TEXT,
        PRIMARY KEY (operation, position)
      )`,
      sql`CREATE INDEX operation_entries_by_entry ON operation_entries (operation, entry)`,
    ],
  },
]
