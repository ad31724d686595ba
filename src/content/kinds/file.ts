import type { Caller } from '../../accounts/caller.ts'
import { NotFound } from '../../base/errors.ts'
import { payingUser } from '../../model/entry.ts'
import { findFile } from '../../files/file-records.ts'
import type { Files } from '../../files/files.ts'
import type { Entry } from '../../model/entry.ts'
import { type EntryInContext, requires } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import type { Changes } from '../changes.ts'
import { describeFile, requireHoldsFile } from '../file-description.ts'
import type {
  ViewContext,
  ResourceBody,
  ResourceConditions,
  ResourceContent,
  ResourceKind,
  ResourceView,
  Written,
} from '../resource-kind.ts'

interface Dependencies {
  readonly database: Database
  readonly changes: Changes
  readonly files: Files
}

const uploading = requires('writeresource', 'upload to this entry')
const removing = requires('writeresource', 'delete the file of this entry')

/** A file, or no resource yet (W3.8.1, D7). */
export class FileKind implements ResourceKind {
  readonly isCreatable = true
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  async view(_caller: Caller, _target: EntryInContext, { sha256 }: ViewContext): Promise<ResourceView> {
    return { form: 'value', value: sha256 === undefined ? {} : { sha256 } }
  }

  async content(): Promise<ResourceContent> {
    return { form: 'file' }
  }

  /** Checks right and precondition before any byte is requested, and again when the file has arrived. */
  async write(
    caller: Caller,
    target: EntryInContext,
    body: ResourceBody,
    { file: precondition }: ResourceConditions,
  ): Promise<Written> {
    uploading(caller, target)
    const { entry } = target
    requireHoldsFile(entry)
    const upload = body.upload()
    return await this.#deps.files.put({ context: entry.context, id: entry.id, user: payingUser(entry) }, upload, {
      check: file => precondition(entry, file),
      transaction: this.#deps.changes.transactionOf(caller),
      makeVisible: async (writer, file, previous) => {
        const { entry: present } = await writer.recheck(target, uploading)
        requireHoldsFile(present)
        precondition(present, previous)
        const statements = describeFile(present, { ...upload.describe(), size: file.size })
        return { entry: await writer.update(present, { ...present, statements }), file }
      },
    })
  }

  async clear(caller: Caller, target: EntryInContext, { file: precondition }: ResourceConditions): Promise<Entry> {
    removing(caller, target)
    requireHoldsFile(target.entry)
    const entry = await this.#deps.changes.change(caller, target, { check: removing }, async (present, { tx }) => {
      precondition(present, await findFile(tx, present))
      if (!(await this.#deps.files.remove(tx, present))) throw new NotFound('no-file', 'This entry has no file.')
      return { ...present, statements: describeFile(present, undefined) }
    })
    await this.#deps.files.collectGarbage()
    return entry
  }
}
