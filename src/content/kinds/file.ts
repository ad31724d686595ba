import { NotFound, WrongMethod } from '../../base/errors.ts'
import { payingUser } from '../../model/entry.ts'
import { findFile } from '../../files/file-records.ts'
import type { Files } from '../../files/files.ts'
import { requires } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import type { Changes } from '../changes.ts'
import { describeFile, requireHoldsFile, uploadEvent } from '../file-description.ts'
import type { ResourceKind, ResourceReads } from '../resource-kind.ts'

export interface FileDependencies {
  readonly changes: Changes
  readonly files: Files
}

const uploading = requires('writeresource', 'upload to this entry')
const removing = requires('writeresource', 'delete the file of this entry')

export const fileReads: ResourceReads = {
  async view(_caller, _target, { sha256 }) {
    return { form: 'value', value: sha256 === undefined ? {} : { sha256 } }
  },
  async content() {
    return { form: 'file' }
  },
}

/** A file, or no resource yet (W3.8.1, D7). */
export const fileKind = ({ changes, files }: FileDependencies): ResourceKind => ({
  ...fileReads,
  isCreatable: true,
  /** Checks right and precondition before any byte is requested, and again when the file has arrived. */
  async write(caller, target, body, { file: precondition }) {
    uploading(caller, target)
    const { entry } = target
    requireHoldsFile(entry)
    const upload = body.upload()
    return await files.put({ context: entry.context, id: entry.id, user: payingUser(entry) }, upload, {
      check: file => precondition(entry, file),
      transaction: changes.transactionOf(caller),
      makeVisible: async (writer, file, previous) => {
        const { entry: present } = await writer.recheck(target, uploading)
        requireHoldsFile(present)
        precondition(present, previous)
        const statements = describeFile(present, { ...upload.describe(), size: file.size })
        const entry = await writer.update(present, { ...present, statements })
        writer.record(uploadEvent(entry, file, previous))
        return { entry, file }
      },
    })
  },
  async clear(caller, target, { file: precondition }) {
    removing(caller, target)
    requireHoldsFile(target.entry)
    const entry = await changes.change(caller, target, { check: removing }, async (present, { tx }) => {
      precondition(present, await findFile(tx, present))
      if (!(await files.remove(tx, present))) throw new NotFound('no-file', 'This entry has no file.')
      return { ...present, statements: describeFile(present, undefined) }
    })
    await files.collectGarbage()
    return entry
  },
})

export const pipelineResultReads = (database: Database): ResourceReads => ({
  async view() {
    return { form: 'value', value: {} }
  },
  async content(_caller, { entry }) {
    if (await findFile(database, entry)) return { form: 'file' }
    return { form: 'json', isVersioned: true, read: async () => ({}) }
  },
})

/** The result of a pipeline, where it is in this store. Only an import brings these, and their files. */
export const pipelineResultKind = (reads: ResourceReads): ResourceKind => ({
  ...reads,
  isCreatable: false,
  async write() {
    throw new WrongMethod('Writing this resource', ['GET', 'HEAD'])
  },
})
