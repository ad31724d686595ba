import { join } from 'node:path'
import { layout, schema } from '../../src/assembly/stores.ts'
import { fillStore, type Source } from '../../src/backup/store-copy.ts'
import { readEntryStore, type ImportOptions } from '../../migration/entrystore/import.ts'
import type { PasswordHashing } from '../../migration/entrystore/principal-rows.ts'
import { silent } from '../../src/base/progress.ts'
import type { Finding, Report } from '../../migration/entrystore/report.ts'
import type { Database } from '../../src/stores/database.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { type Sql, sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { openSqliteScratch } from '../../src/stores/sqlite/sqlite-scratch.ts'
import { FakeSystem } from './fake-system.ts'
import { repository } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

interface Test {
  after(work: () => Promise<void>): void
}

/** Folders made by the real software. */
export const fixtures = join(repository, 'test/migration/fixtures')

export interface Imported {
  readonly report: Report
  readonly database: Database
  readonly blobs: FolderBlobStore
  /** The data folder of the new store. */
  readonly folder: string
  /** The one finding with this code, if any. */
  readonly finding: (code: string) => Finding | undefined
  readonly entry: (context: string, id: string) => Promise<EntryRow | undefined>
  /** Rows of the new store, as plain objects. */
  readonly rows: (statement: Sql) => Promise<Array<Record<string, string | number | null>>>
  readonly user: (id: string) => Promise<Record<string, string | number | null> | undefined>
}

export interface EntryRow {
  readonly entry_type: string
  readonly graph_type: string
  readonly resource_type: string
  readonly resource_uri: string | null
  readonly created: number
  readonly modified: number
  readonly creator: string | null
  readonly contributors: string
  readonly acl: string
  readonly statements: string
  readonly metadata: string
  readonly cached_external_metadata: string | null
  readonly content: string | null
}

/** Hashes that cost nothing, where hashing is not what is tested. */
const quick: PasswordHashing = { hash: async password => `hashed:${password.length}`, wrap: undefined }

export async function importFolder(
  t: Test,
  source: string,
  options: Partial<ImportOptions> & { readonly passwords?: PasswordHashing } = {},
): Promise<Imported> {
  const folder = await temporaryFolder()
  const database = await openSqliteDatabase(join(folder, 'store.sqlite'))
  t.after(() => database.close())
  const blobs = await FolderBlobStore.open(join(folder, 'files'))
  const report = await withSource(source, options, async ({ source, report }) => {
    await fillStore(source, { database, blobs }, layout)
    return report
  })
  return {
    report,
    database,
    blobs,
    folder,
    finding: code => report.toJSON().findings.find(finding => finding.code === code),
    entry: (context, id) =>
      database.get<EntryRow>(sql`SELECT * FROM entries WHERE context = ${context} AND id = ${id}`),
    rows: async statement =>
      (await database.all<Record<string, string | number | null>>(statement)).map(row => ({ ...row })),
    user: id => database.get(sql`SELECT * FROM principals WHERE id = ${id}`),
  }
}

/** Reads an old store and hands over what a new one would be filled from. */
export async function withSource<T>(
  folder: string,
  { passwords = quick, ...options }: Partial<ImportOptions> & { readonly passwords?: PasswordHashing },
  work: (read: { readonly report: Report; readonly source: Source }) => Promise<T>,
): Promise<T> {
  const scratch = await openSqliteScratch(await temporaryFolder())
  const tables = await openSqliteDatabase(':memory:')
  try {
    await migrate(tables, schema)
    const deps = {
      scratch,
      tables,
      schema: schema.at(-1)?.id ?? 0,
      passwords,
      progress: silent,
      system: new FakeSystem('import'),
    }
    const defaults = { zone: undefined, defaultQuota: -1, accept: new Set<string>() }
    return await work(await readEntryStore({ folder, ...defaults, ...options }, deps))
  } finally {
    await tables.close()
    await scratch.close()
  }
}

/** What a store holds, in the words of `expected.json`. */
export async function describeStore(database: Database, base: string) {
  const entries = await database.all<EntryRow & { context: string; id: string }>(
    sql`SELECT * FROM entries ORDER BY context, id`,
  )
  const contexts = await database.all<{
    id: string
    name: string | null
    last_number: number
    quota: number | null
    entries: number
  }>(sql`
    SELECT c.id, c.name, c.last_number, s.quota, (SELECT count(*) FROM entries e WHERE e.context = c.id) AS entries
    FROM contexts c JOIN quota_usage s ON s.kind = 'context' AND s.owner = c.id`)
  const names = new Map(contexts.map(({ id, name }) => [`_contexts/${id}`, name]))
  const accounts = await database.all<Account>(sql`SELECT * FROM principals`)
  for (const { id, name } of accounts) names.set(`_principals/${id}`, name)
  const described = []
  for (const row of entries) described.push(await describeEntry(database, row, names, accounts))
  return {
    base,
    contexts: Object.fromEntries(
      contexts.map(({ id, name, last_number, quota, entries }) => [
        id,
        { name, quota: quota === null ? null : String(quota), last: String(last_number), entries },
      ]),
    ),
    users: accounts.filter(({ kind }) => kind === 'user').length,
    groups: accounts.filter(({ kind }) => kind === 'group').length,
    entries: described,
  }
}

interface Account {
  readonly id: string
  readonly kind: string
  readonly name: string | null
  readonly password: string | null
  readonly disabled: number
  readonly home_context: string | null
}

async function describeEntry(
  database: Database,
  row: EntryRow & { context: string; id: string },
  names: ReadonlyMap<string, string | null>,
  accounts: readonly Account[],
) {
  const { context, id } = row
  const at = sql`context = ${context} AND entry = ${id}`
  const own = `./${context === '_contexts' ? id : `${context}/resource/${id}`}`
  const resource = row.resource_uri ?? own
  const revisions = await database.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM metadata_revisions WHERE ${at}`,
  )
  const file = await database.get<{ size: number }>(sql`SELECT size FROM files WHERE ${at}`)
  const statements = JSON.parse(row.statements) as Record<string, Record<string, Array<{ value: string }>>>
  const said = (predicate: string): string | undefined => statements[resource]?.[predicate]?.[0]?.value
  const isLocal = row.entry_type === 'Local'
  const account = isLocal && context === '_principals' ? accounts.find(account => account.id === id) : undefined
  const list = await database.all<{ member: string }>(
    sql`SELECT member FROM list_members WHERE context = ${context} AND list = ${id} ORDER BY position`,
  )
  const group = await database.all<{ user_id: string }>(
    sql`SELECT user_id FROM group_members WHERE group_id = ${id} ORDER BY position`,
  )
  const members = account
    ? group.map(({ user_id }) => `./_principals/entry/${user_id}`)
    : list.map(({ member }) => `./${context}/entry/${member}`)
  return {
    context,
    id,
    entryType: row.entry_type,
    graphType: row.graph_type,
    resourceType: row.resource_type,
    acl: JSON.parse(row.acl) as unknown,
    resource,
    name: names.get(`${context}/${id}`) ?? null,
    metadata: countStatements(row.metadata),
    cached: countStatements(row.cached_external_metadata ?? '{}'),
    revisions: revisions?.count ?? 0,
    ...(file
      ? {
          size: file.size,
          mime: said('http://purl.org/dc/terms/format'),
          label: said('http://www.w3.org/2000/01/rdf-schema#label'),
        }
      : {}),
    ...(isLocal && /^(List|Group)$/.test(row.graph_type) && members.length > 0 ? { members } : {}),
    ...(account?.kind === 'user' && account.password !== null ? { password: account.password } : {}),
    ...(account?.disabled === 1 ? { disabled: true } : {}),
    ...(typeof account?.home_context === 'string' ? { home: `./_contexts/entry/${account.home_context}` } : {}),
  }
}

export function countStatements(graph: string): number {
  const parsed = JSON.parse(graph) as Record<string, Record<string, unknown[]>>
  return Object.values(parsed)
    .flatMap(predicates => Object.values(predicates))
    .flat().length
}
