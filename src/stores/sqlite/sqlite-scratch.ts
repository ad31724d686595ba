import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Bytes } from '../../base/units.ts'
import type { Scratch, ScratchMap } from '../scratch.ts'
import { name, sql } from '../sql.ts'
import { makeFolder } from '../sync-folder.ts'
import { SqliteConnection } from './sqlite-connection.ts'

/** Pages of the file that stay in memory. */
const CACHE: Bytes = 16 * 2 ** 20
/** Limits of one read while iterating over a map: pairs, and about as many characters. */
const PAGE = 200
const PAGE_CHARACTERS = 2 ** 20

/**
 * Creates a scratch database in a new folder below `parent`, which is deleted at the end of the program at the latest.
 * @param ownsParent true if no other process uses `parent`: the remains of a killed program are deleted now, and `parent`
 * itself at the end
 */
export async function openSqliteScratch(
  parent: string,
  { ownsParent = false }: { readonly ownsParent?: boolean } = {},
): Promise<Scratch> {
  if (ownsParent) await rm(parent, { recursive: true, force: true })
  await makeFolder(parent)
  const folder = await mkdtemp(join(parent, 'stowage-scratch-'))
  const unwanted = ownsParent ? parent : folder
  const removeNow = (): void => rmSync(unwanted, { recursive: true, force: true })
  process.once('exit', removeNow)
  const handle = new DatabaseSync(join(folder, 'scratch.sqlite'))
  // Nothing needs to outlive the process, so nothing is synchronised and nothing can be rolled back.
  handle.exec(`
    PRAGMA page_size = 8192;
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA temp_store = FILE;
    PRAGMA cache_size = -${CACHE / 1024};
    BEGIN
  `)
  const connection = new SqliteConnection(handle, 100)
  let maps = 0
  return {
    folder,
    map: () => new SqliteScratchMap(connection, `map_${++maps}`),
    close: async () => {
      connection.close()
      await rm(unwanted, { recursive: true, force: true })
      process.off('exit', removeNow)
    },
  }
}

interface Pair {
  readonly key: string
  readonly value: string
}

class SqliteScratchMap implements ScratchMap {
  readonly #connection: SqliteConnection
  readonly #table: string

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection
    this.#table = table
    connection.run(sql`CREATE TABLE ${name(table)} (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`)
  }

  get(key: string): string | undefined {
    const row = this.#connection.get(sql`SELECT value FROM ${name(this.#table)} WHERE key = ${key}`)
    return (row as { value: string } | undefined)?.value
  }

  set(key: string, value: string): void {
    this.#connection.run(
      sql`INSERT INTO ${name(this.#table)} (key, value) VALUES (${key}, ${value})
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    )
  }

  *under(prefix: string): Generator<readonly [key: string, value: string]> {
    const end = `${prefix}\u{10ffff}`
    let count = 1
    for (let last: string | undefined; ; ) {
      const from = last === undefined ? sql`key >= ${prefix}` : sql`key > ${last}`
      const page = this.#connection.all(
        sql`SELECT key, value FROM ${name(this.#table)} WHERE ${from} AND key < ${end} ORDER BY key LIMIT ${count}`,
      ) as Pair[]
      let characters = 0
      for (const { key, value } of page) {
        characters += value.length
        yield [key, value]
      }
      if (page.length < count) return
      last = page.at(-1)?.key
      // Values may be long, so the next read is limited by the size of the last one, and by a page.
      count = Math.max(1, Math.min(PAGE, count * 4, Math.floor((PAGE_CHARACTERS * page.length) / (characters + 1))))
    }
  }
}
