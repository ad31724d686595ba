// Writes entries and their search index directly to a store, without the service.
import { deleteEntryRow, insertEntryRow, updateEntryRow } from '../src/content/entry-rows.ts'
import { indexEntry, removeFromIndex } from '../src/search/index-records.ts'

export async function insertEntry(tx, entry) {
  await insertEntryRow(tx, entry)
  await indexEntry(tx, entry)
}

export async function updateEntry(tx, entry) {
  await updateEntryRow(tx, entry)
  await indexEntry(tx, entry)
}

export async function deleteEntry(tx, address) {
  await deleteEntryRow(tx, address)
  await removeFromIndex(tx, address)
}
