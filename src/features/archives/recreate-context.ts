import { Conflict } from '../../base/errors.ts'
import type { Queries } from '../../stores/database.ts'
import { CONTEXTS } from '../../model/addresses.ts'
import type { EntryWriter } from '../../content/changes.ts'
import { findContext } from '../../content/contexts.ts'
import { findEntry } from '../../content/entry-records.ts'
import { WrittenPrincipals } from './export.ts'
import { withPrincipals } from './import.ts'
import { Principals, principalsIn } from './principals.ts'

interface Dependencies {
  /** Makes the rows of a new context beside its entry. */
  readonly contexts: { open(tx: Queries, id: string, name: string | undefined): Promise<void> }
}

/**
 * Makes a context that has been deleted again: without content, with the id, name, access list and metadata that it has in another database.
 * The id of a deleted context is never given to another one, but this is the same context.
 * @throws {Conflict} `id-taken`, `name-taken`
 */
export async function recreateContext(
  { contexts }: Dependencies,
  writer: EntryWriter,
  id: string,
  from: Queries,
): Promise<void> {
  const { tx } = writer
  const [context, entry] = [await findContext(from, id), await findEntry(from, { context: CONTEXTS, id })]
  if (!context || !entry) throw new TypeError('the other database lacks the context')
  if (await findContext(tx, id)) throw new Conflict('id-taken', `There is a context "${id}".`)
  const principals = new Principals({ isSameStore: true })
  for (const line of await new WrittenPrincipals(from).newIn(principalsIn(entry))) await principals.note(tx, line)
  await writer.reuseId(entry)
  await contexts.open(tx, id, context.name)
  await writer.insert(withPrincipals(entry, principals))
  const name = context.name === undefined ? {} : { name: context.name }
  writer.record({ event: 'context-created', detail: { context: id, ...name } })
}
