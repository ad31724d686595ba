import { Changes } from '../../src/content/changes.ts'
import { deleteEntryRow, deleteEntryRowsOf, insertEntryRow, updateEntryRow } from '../../src/content/entry-rows.ts'
import type { EntryAddress } from '../../src/model/addresses.ts'
import { type Entry, newEntry } from '../../src/model/entry.ts'
import { indexEntry, removeContextFromIndex, removeFromIndex } from '../../src/search/index-records.ts'
import type { Database, Queries } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from './fake-system.ts'

/** The changes of entries, with an audit log that is not stored. */
export const changesOf = (database: Database): Changes =>
  new Changes({
    database,
    system: new FakeSystem('changes'),
    audit: { insert: async () => {}, announce: () => {} },
    revisions: { enabled: false },
    requireFresh: () => {},
  })

/** Writes entries and their search index directly to the store, without the rules of the service. */

export async function insertEntry(tx: Queries, entry: Entry): Promise<void> {
  await insertEntryRow(tx, entry)
  await indexEntry(tx, entry)
}

/** A user, and an entry in a context of its own. */
export async function insertUploadTarget(tx: Queries, user: string, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`INSERT INTO principals (id, kind, name) VALUES (${user}, 'user', ${user})`)
  await tx.run(sql`INSERT INTO contexts (id) VALUES (${context})`)
  await insertEntry(tx, newEntry({ context, id, by: user, now: 1 }))
}

export async function updateEntry(tx: Queries, entry: Entry): Promise<void> {
  await updateEntryRow(tx, entry)
  await indexEntry(tx, entry)
}

export async function deleteEntry(tx: Queries, address: EntryAddress): Promise<void> {
  await deleteEntryRow(tx, address)
  await removeFromIndex(tx, address)
}

export async function deleteEntriesOf(tx: Queries, context: string): Promise<void> {
  await deleteEntryRowsOf(tx, context)
  await removeContextFromIndex(tx, context)
}
