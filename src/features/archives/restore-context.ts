import { requireSuperUser } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { Conflict } from '../../base/errors.ts'
import type { Queries } from '../../stores/database.ts'
import { CONTEXTS } from '../../model/addresses.ts'
import type { Changes } from '../../content/changes.ts'
import { findContext } from '../../content/contexts.ts'
import { findEntry } from '../../content/entry-records.ts'
import { requireOrdinary, WrittenPrincipals } from './export.ts'
import { withPrincipals } from './import.ts'
import { Principals, principalsIn } from './principals.ts'

interface Dependencies {
  readonly changes: Changes
  /** Makes the rows of a new context beside its entry. */
  readonly contexts: { open(tx: Queries, id: string, name: string | undefined): Promise<void> }
}

/** Makes a context that has been deleted again, under its id. */
export class ContextRestore {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Makes the context without content: with the name, access list and metadata that it has in another database. The id is not free for others
   * after a deletion, but here it is the same context.
   * @throws {Conflict} `id-taken`, `name-taken`
   */
  async open(caller: Caller, id: string, from: Queries): Promise<void> {
    requireSuperUser(caller, 'restore a context')
    requireOrdinary(id)
    const [context, entry] = [await findContext(from, id), await findEntry(from, { context: CONTEXTS, id })]
    if (!context || !entry) throw new TypeError('the other database lacks the context')
    const lines = await new WrittenPrincipals(from).newIn(principalsIn(entry))
    await this.#deps.changes.run(caller, async writer => {
      const { tx } = writer
      requireSuperUser(writer.caller, 'restore a context')
      if (await findContext(tx, id)) throw new Conflict('id-taken', `There is a context "${id}".`)
      const principals = new Principals({ isSameStore: true })
      for (const line of lines) await principals.note(tx, line)
      await writer.reuseId(entry)
      await this.#deps.contexts.open(tx, id, context.name)
      await writer.insert(withPrincipals(entry, principals))
      const name = context.name === undefined ? {} : { name: context.name }
      writer.record({ event: 'context-created', detail: { context: id, ...name } })
    })
  }
}
