/** A file together with the names of the folders that contain it, the outermost first. */
export interface DroppedFile {
  readonly file: File
  readonly folders: readonly string[]
}

/** Files chosen in a dialog; files of a chosen folder include its name. */
export const chosenFiles = (files: Iterable<File>): DroppedFile[] =>
  [...files].map(file => ({ file, folders: file.webkitRelativePath.split('/').slice(0, -1) }))

/** Files and folders that were dropped. Entries are read at once, because the transfer is empty after the event. */
export async function droppedFiles(transfer: DataTransfer): Promise<DroppedFile[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file')
  const entries = items.map(item => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }))
  const found = await Promise.all(
    entries.map(async ({ entry, file }) => {
      if (entry?.isDirectory === true) return await filesIn(entry as FileSystemDirectoryEntry, [])
      return file ? [{ file, folders: [] }] : []
    }),
  )
  return found.flat()
}

async function filesIn(folder: FileSystemDirectoryEntry, above: readonly string[]): Promise<DroppedFile[]> {
  const folders = [...above, folder.name]
  const files: DroppedFile[] = []
  const reader = folder.createReader()
  for (;;) {
    // A reader returns entries in portions, and an empty portion at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return files
    for (const entry of some) {
      if (entry.isDirectory) files.push(...(await filesIn(entry as FileSystemDirectoryEntry, folders)))
      else {
        const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
        files.push({ file, folders })
      }
    }
  }
}
