import type { Queries } from '../../../src/stores/database.ts'
import type { Migration } from '../../../src/stores/migrations.ts'
import { sql } from '../../../src/stores/sql.ts'

export const bellSteps: readonly Migration[] = [
  {
    id: 9999,
    name: 'bells',
    statements: [sql`CREATE TABLE bells (name TEXT PRIMARY KEY, strokes BIGINT NOT NULL)`],
  },
]

export async function insertBell(tx: Queries, name: string, strokes: number): Promise<void> {
  await tx.run(sql`INSERT INTO bells (name, strokes) VALUES (${name}, ${strokes})`)
}

export async function countBells(queries: Queries): Promise<number> {
  return (await queries.get<{ count: number }>(sql`SELECT count(*) AS count FROM bells`))?.count ?? 0
}

export async function deleteBells(tx: Queries): Promise<void> {
  await tx.run(sql`DELETE FROM bells`)
}
