import type { Queries } from '../database.ts'
import { sql } from '../sql.ts'

/** Whether the database contains a store with at least one applied migration. */
export async function holdsStore(queries: Queries): Promise<boolean> {
  const row = await queries.get<{ found: string | null }>(sql`SELECT to_regclass('schema_migrations') AS found`)
  return typeof row?.found === 'string'
}

/** The version of the server, such as `15.8`. */
export async function serverVersion(queries: Queries): Promise<string> {
  const row = await queries.get<{ version: string }>(sql`SELECT current_setting('server_version') AS version`)
  return row?.version.split(' ')[0] ?? ''
}
