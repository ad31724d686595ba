import { listHolding } from '../../content/list-records.ts'
import type { Queries } from '../../stores/database.ts'
import type { ResumableUpload } from './resumable-upload.ts'

/** An upload in a list of uploads. */
export interface ListedUpload extends ResumableUpload {
  /** Id of the list that has its entry, if any. */
  readonly list: string | undefined
}

/** Uploads with the lists that have their entries. */
export async function withLists(queries: Queries, uploads: readonly ResumableUpload[]): Promise<ListedUpload[]> {
  const listed: ListedUpload[] = []
  for (const upload of uploads) {
    const list = await listHolding(queries, { context: upload.context, id: upload.entry })
    listed.push({ ...upload, list })
  }
  return listed
}
