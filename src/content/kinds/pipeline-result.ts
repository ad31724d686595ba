import { WrongMethod } from '../../base/errors.ts'
import type { Caller } from '../../accounts/caller.ts'
import { findFile } from '../../files/file-records.ts'
import type { EntryInContext } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import type { ResourceContent, ResourceKind, ResourceView, Written } from '../resource-kind.ts'

/** The result of a pipeline. Only an import brings these, and their files. */
export class PipelineResultKind implements ResourceKind {
  readonly isCreatable = false
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async view(): Promise<ResourceView> {
    return { form: 'value', value: {} }
  }

  async content(_caller: Caller, { entry }: EntryInContext): Promise<ResourceContent> {
    if (await findFile(this.#database, entry)) return { form: 'file' }
    return { form: 'json', isVersioned: true, read: async () => ({}) }
  }

  async write(): Promise<Written> {
    throw new WrongMethod('Writing this resource', ['GET', 'HEAD'])
  }
}
