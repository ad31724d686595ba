import { mayManageQuota, requireSignedIn } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { findCaller } from '../../accounts/present-caller.ts'
import { opensContext } from '../../accounts/token-scopes.ts'
import { Gone } from '../../base/errors.ts'
import { findFile } from '../../files/file-records.ts'
import type { Files } from '../../files/files.ts'
import type { ResumableFiles } from './resumable-files.ts'
import { type ResumableUpload, unknownUpload } from './resumable-upload.ts'
import { isPaidBy } from './upload-shares.ts'
import { may } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import type { Changes } from '../../content/changes.ts'
import type { Entries } from '../../content/entries.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'

/** The services and stores that uploads use. */
export interface UploadDependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly changes: Changes
  readonly entries: Entries
  readonly files: Files
  readonly resumableFiles: ResumableFiles
}

/** Ends uploads in several requests before they are files: given up, expired, refused. */
export class UploadEndings {
  readonly #deps: UploadDependencies

  constructor(deps: UploadDependencies) {
    this.#deps = deps
  }

  /**
   * Finds the upload for a caller who may end it: its user, even without the right to write its entry; the user whose quota it counts
   * against; the owners of its context; administrators. @throws {NotFound} @throws {Gone} `upload-expired`
   */
  async find(caller: Caller, id: string): Promise<ResumableUpload> {
    requireSignedIn(caller, 'give up an upload')
    const upload = await this.#deps.resumableFiles.records.find(id)
    if (!opensContext(caller, upload.context) || !(await this.#mayEnd(caller, upload))) throw unknownUpload()
    if (upload.isExpired === 1) throw expired()
    return upload
  }

  async #mayEnd(caller: Caller, upload: ResumableUpload): Promise<boolean> {
    const { database, loader } = this.#deps
    const { uploader, context } = upload
    if (uploader === caller.user.id || mayManageQuota(caller, context)) return true
    // A completed upload reserves nothing.
    if (upload.isDone === 1) return false
    if (await isPaidBy(database, upload, caller.user.id)) return true
    return may(caller, 'administer', await loader.getContextEntry(context))
  }

  /** Gives the upload up, and its storage back. When others than its user do so, the audit log says it. @throws {NotFound} */
  async remove(caller: Caller, id: string): Promise<void> {
    const { changes, files, resumableFiles } = this.#deps
    const upload = await this.find(caller, id)
    const { uploader, context, entry, fileName } = upload
    if (upload.isEntryNew === 1) await this.#deleteUnusedEntry(upload)
    await changes.run(caller, async writer => {
      await resumableFiles.cancel(writer.tx, upload)
      if (uploader === caller.user.id) return
      const name = fileName === null ? {} : { name: fileName }
      writer.record({ event: 'upload-ended', userId: uploader, detail: { context, entry, ...name } })
    })
    await files.collectGarbage()
  }

  /** Gives the upload up, and deletes an entry that was created for it and is of no other use. */
  async cancel(upload: ResumableUpload): Promise<void> {
    if (upload.isEntryNew === 1) await this.#deleteUnusedEntry(upload)
    await this.forget(upload)
  }

  /** Gives the upload up; its entry stays. */
  async forget(upload: ResumableUpload): Promise<void> {
    const { database, files, resumableFiles } = this.#deps
    await database.transaction(tx => resumableFiles.cancel(tx, upload))
    await files.collectGarbage()
  }

  /** Deletes the entries that were created for uploads which have expired. */
  async deleteUnusedEntries(): Promise<void> {
    const { resumableFiles } = this.#deps
    for (const upload of await resumableFiles.records.withUnusedEntries()) {
      await this.#deleteUnusedEntry(upload)
      await resumableFiles.forgetEntry(upload)
    }
  }

  /**
   * Deletes the entry of an upload that is still there, and with it the upload, if the uploader could delete it now. The entry stays if it
   * has a file, has been changed by anyone, or waits for another upload.
   */
  async #deleteUnusedEntry(upload: ResumableUpload): Promise<void> {
    const { entries, resumableFiles } = this.#deps
    const address = { context: upload.context, id: upload.entry }
    await entries.deleteByService(address, upload.uploader, async (target, tx) => {
      const { modified, created } = target.entry
      if (!(await resumableFiles.records.isThere(tx, upload))) return false
      const uploader = await findCaller(tx, upload.uploader)
      if (!uploader || !may(uploader, 'administer', target)) return false
      if (modified !== created || (await findFile(tx, address))) return false
      return !(await resumableFiles.records.isExpected(tx, upload))
    })
  }
}

export const expired = (): Gone => new Gone('upload-expired', 'Nothing was received for too long. Create a new upload.')
