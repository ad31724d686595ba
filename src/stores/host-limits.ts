import { readFile, stat } from 'node:fs/promises'

/** How many files this process may have open; `undefined` where the system does not say. */
export async function maxOpenFiles(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}

/** The paths that users other than the owner may read or write. A path that does not exist is not returned. */
export async function openToOthers(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async path => {
      const mode = await stat(path).then(
        ({ mode }) => mode,
        () => 0,
      )
      return (mode & 0o077) === 0 ? [] : [path]
    }),
  )
  return found.flat()
}
