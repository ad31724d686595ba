import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bytes } from '../../base/units.ts'
import type { Scratch } from '../scratch.ts'
import type { Sql } from '../sql.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { loadSqlite } from './sqlite-module.ts'

/** Pages of the file that stay in memory. */
const CACHE: Bytes = 32 * 2 ** 20

/**
 * Makes a scratch database in a new folder below `parent`, which goes at the end of the program at the latest.
 * @param ownsParent nobody else uses `parent`: what a killed program left there goes, and `parent` itself at the end
 */
export async function openSqliteScratch(
  parent: string,
  { ownsParent = false }: { readonly ownsParent?: boolean } = {},
): Promise<Scratch> {
  const { DatabaseSync } = await loadSqlite()
  if (ownsParent) await rm(parent, { recursive: true, force: true })
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(parent, 'stowage-scratch-'))
  const unwanted = ownsParent ? parent : folder
  const removeNow = (): void => rmSync(unwanted, { recursive: true, force: true })
  process.once('exit', removeNow)
  const handle = new DatabaseSync(join(folder, 'scratch.sqlite'))
  // Nothing of it outlives the process, so nothing is synchronised and nothing can be rolled back.
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
  return {
    folder,
    all: <Row>(statement: Sql) => connection.all(statement) as Row[],
    get: <Row>(statement: Sql) => connection.get(statement) as Row | undefined,
    run: statement => connection.run(statement),
    close: async () => {
      connection.close()
      await rm(unwanted, { recursive: true, force: true })
      process.off('exit', removeNow)
    },
  }
}
