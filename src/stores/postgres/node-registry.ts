import { parseStored } from '../../base/json.ts'
import { StartupError, StoreUnavailable } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Database, Queries } from '../database.ts'
import { schemaVersion } from '../migrations.ts'
import { sql } from '../sql.ts'

/** The values that nodes on one database must agree on, by name; shown when they differ. No secrets. */
export interface NodeFacts {
  readonly version: string
  readonly settings: Readonly<Record<string, string>>
  /** Fingerprints of the keys that tokens are sealed with, the one for new tokens first; empty if tokens are in memory. */
  readonly keys: readonly string[]
  /** Fingerprints of the keys that the secrets of authenticator apps are sealed with, the one for new secrets first. */
  readonly factorKeys?: readonly string[]
}

interface RegisteredNode {
  readonly id: string
  readonly facts: NodeFacts
}

/** A larger difference between clocks makes sessions, locks and records wrong. */
export const MAX_CLOCK_OFFSET: Milliseconds = 30_000

/** The name of a node's connections, which shows the server that the node is alive. At most 63 characters. */
export const applicationOf = (nodeId: string): string => `stowage ${nodeId}`

/** The nodes that have the database open, other than `self`. A node that died disappears with its connections. */
export async function liveNodes(queries: Queries, self?: string): Promise<RegisteredNode[]> {
  const rows = await queries.all<{ id: string; facts: string }>(
    sql`SELECT id, facts FROM nodes WHERE id <> ${self ?? ''}
      AND EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datname = current_database()
        AND a.application_name = 'stowage ' || nodes.id) ORDER BY id`,
  )
  return rows.map(({ id, facts }) => ({ id, facts: parseStored<NodeFacts>(facts) }))
}

/** Registers this node. @throws {StartupError} when it is incompatible with the running nodes */
export async function joinNodes(database: Database, id: string, facts: NodeFacts): Promise<void> {
  const misfits = await database.transaction(async tx => {
    const others = await liveNodes(tx, id)
    const found = others.flatMap(other => misfitsOf(facts, other.facts).map(({ text }) => `node ${other.id}: ${text}`))
    if (found.length > 0) return found
    const known = new Set([id, ...others.map(other => other.id)])
    for (const { id: old } of await tx.all<{ id: string }>(sql`SELECT id FROM nodes`)) {
      if (!known.has(old)) await tx.run(sql`DELETE FROM nodes WHERE id = ${old}`)
    }
    await tx.run(sql`INSERT INTO nodes (id, seen, facts)
      VALUES (${id}, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), ${JSON.stringify(facts)})`)
    return []
  })
  if (misfits.length === 0) return
  throw new StartupError(
    `This node does not fit the nodes that use the same database:\n  ${misfits.join('\n  ')}\n` +
      'Give all nodes the same settings and key files, or stop the others first.',
  )
}

/** Registers changed facts of a running node. @returns how they differ from the facts of other nodes */
export async function changeNode(database: Database, id: string, facts: NodeFacts): Promise<readonly string[]> {
  await database.run(sql`UPDATE nodes SET facts = ${JSON.stringify(facts)} WHERE id = ${id}`)
  const others = await liveNodes(database, id)
  return others.flatMap(other => misfitsOf(facts, other.facts).map(({ text }) => `node ${other.id}: ${text}`))
}

/** Registers a running node again whose row has been deleted while the database was away. */
export async function keepRegistered(database: Database, id: string, facts: NodeFacts): Promise<void> {
  await database.run(sql`INSERT INTO nodes (id, seen, facts)
    VALUES (${id}, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), ${JSON.stringify(facts)})
    ON CONFLICT (id) DO NOTHING`)
}

/** A node that can no longer reach the database can still stop, because its row expires. */
export async function leaveNodes(database: Database, id: string): Promise<void> {
  try {
    await database.run(sql`DELETE FROM nodes WHERE id = ${id}`)
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
  }
}

/** A reason why two nodes cannot use one store. */
export interface Misfit {
  /** A key of settings, or one of two keys that seal secrets. */
  readonly of: string
  readonly own: string
  readonly other: string
  /** Names both values, this node's first. */
  readonly text: string
}

/** Facts that only one of the two versions registers are not compared. */
export function misfitsOf(own: NodeFacts, other: NodeFacts): Misfit[] {
  const names = Object.keys(own.settings).filter(name => name in other.settings)
  return [
    ...names
      .filter(name => own.settings[name] !== other.settings[name])
      .map(name => {
        const [here, there] = [String(own.settings[name]), String(other.settings[name])]
        return { of: name, own: here, other: there, text: `${name} is ${here} here and ${there} there` }
      }),
    ...keyMisfits('token key', own.keys, other.keys),
    ...(own.factorKeys && other.factorKeys
      ? keyMisfits('key of authenticator apps', own.factorKeys, other.factorKeys)
      : []),
  ]
}

/** While keys are rotated one node after the other, each must have the key that the other uses for new secrets. */
function keyMisfits(of: string, own: readonly string[], other: readonly string[]): Misfit[] {
  const isKnown = (key: string | undefined, keys: readonly string[]): boolean => key === undefined || keys.includes(key)
  const [ownKey, otherKey] = [own[0], other[0]]
  if (isKnown(ownKey, other) && isKnown(otherKey, own)) return []
  const [here, there] = [ownKey ?? 'not set', otherKey ?? 'not set']
  return [{ of, own: here, other: there, text: `the ${of} is ${here} here and ${there} there (fingerprints)` }]
}

/**
 * How far the clock of this machine is ahead of that of the database, in milliseconds.
 * @param now the clock of the machine
 */
export async function clockAhead(queries: Queries, now: () => Milliseconds): Promise<Milliseconds> {
  const before = now()
  const row = await queries.get<{ now: number }>(
    sql`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now`,
  )
  const after = now()
  return Math.round((before + after) / 2 - (row?.now ?? after))
}

/** @throws {StartupError} */
export function requireClock(ahead: Milliseconds): void {
  if (Math.abs(ahead) <= MAX_CLOCK_OFFSET) return
  throw new StartupError(`The clock of this machine is ${describeOffset(ahead)} that of the database. Set it right.`)
}

/** Logs when the clock has become wrong since the start. */
export async function watchClock(queries: Queries, now: () => Milliseconds, log: Log): Promise<void> {
  const ahead = await clockAhead(queries, now)
  if (Math.abs(ahead) > MAX_CLOCK_OFFSET)
    log.error({ ahead }, `the clock of this machine is ${describeOffset(ahead)} that of the database`)
}

const describeOffset = (ahead: Milliseconds): string =>
  `${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead > 0 ? 'ahead of' : 'behind'}`

/**
 * Rejects a change of the schema while nodes of an older version run.
 * @param schema the newest migration of this version
 * @throws {StartupError}
 */
export async function requireNoOlderNodes(database: Database, schema: number): Promise<void> {
  if (!(await holdsStore(database)) || (await schemaVersion(database)) >= schema) return
  const table = await database.get<{ found: string | null }>(sql`SELECT to_regclass('nodes') AS found`)
  if (typeof table?.found !== 'string') return
  const [older] = await liveNodes(database)
  if (!older) return
  throw new StartupError(
    `Node ${older.id} of version ${older.facts.version} uses the database, and this version changes its tables. ` +
      'Stop all nodes of the older version first.',
  )
}

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

/** @throws {StartupError} unless the role of the connection may create tables, as the first start and upgrades do */
export async function requireCreate(queries: Queries): Promise<void> {
  const row = await queries.get<{ role: string; base: string; schema: string | null; may: number | null }>(
    sql`SELECT current_user AS role, current_database() AS base, current_schema() AS schema,
      has_schema_privilege(current_schema(), 'CREATE') AS may`,
  )
  if (!row || row.may === 1) return
  const { role, base, schema } = row
  throw new StartupError(
    schema === null
      ? `The role ${role} has no schema in the database ${base}: CREATE SCHEMA AUTHORIZATION ${role}.`
      : `The role ${role} may not create tables in the database ${base}: GRANT CREATE ON SCHEMA ${schema} TO ${role}.`,
  )
}
