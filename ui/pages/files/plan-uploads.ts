import type { DroppedFile } from '../../lib/dropped.ts'
import { createFolder, findNamed } from '../../lib/files.ts'
import type { NewUpload, Target } from '../../lib/uploads.ts'
import type { Conflict } from './conflicts.tsx'

export interface Planned {
  /** Uploads whose names are free. */
  readonly uploads: readonly NewUpload[]
  readonly conflicts: readonly Conflict[]
  /** Names that are taken in the folder, including those of the uploads. */
  readonly taken: ReadonlySet<string>
  readonly madeFolders: boolean
}

/** Creates the folders that contain the files, and finds names that already exist. @throws {Problem} */
export async function planUploads(files: readonly DroppedFile[], target: Target): Promise<Planned> {
  const folders = new Map<string, Target>([['', target]])
  const isNew = new Set<Target>()
  for (const { folders: path } of files) await makeFolders(path, folders, isNew, target)
  const uploads: NewUpload[] = []
  const conflicts: Conflict[] = []
  const taken = new Set<string>()
  for (const place of new Set(folders.values())) {
    const here = files.filter(({ folders: path }) => folders.get(path.join('/')) === place)
    const names = here.map(({ file }) => file.name)
    const found = isNew.has(place) || here.length === 0 ? new Map() : await findNamed(place, names)
    for (const { file } of here) {
      const existing = found.get(file.name)
      const upload: NewUpload = { target: place, file, name: file.name }
      if (existing) conflicts.push({ upload, existing })
      else uploads.push(upload)
    }
    for (const name of names) taken.add(name)
  }
  return { uploads, conflicts, taken, madeFolders: folders.size > 1 }
}

async function makeFolders(
  path: readonly string[],
  folders: Map<string, Target>,
  isNew: Set<Target>,
  target: Target,
): Promise<void> {
  for (const [depth, name] of path.entries()) {
    const key = path.slice(0, depth + 1).join('/')
    if (folders.has(key)) continue
    const above = folders.get(path.slice(0, depth).join('/')) ?? target
    const found = isNew.has(above) ? undefined : (await findNamed(above, [name])).get(name)
    const isThere = found?.isFolder === true
    const place = { ...target, folder: isThere ? found.entryId : await createFolder(above, name) }
    folders.set(key, place)
    if (!isThere) isNew.add(place)
  }
}
