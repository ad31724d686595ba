/** What this browser knows of a file whose upload it has begun, so that the same one is picked again. */
interface Picked {
  readonly uri: string
  readonly name: string
  readonly lastModified: number
}

const PICKED = 'uploads'

export function pickedFiles(): readonly Picked[] {
  try {
    return JSON.parse(localStorage.getItem(PICKED) ?? '[]') as readonly Picked[]
  } catch {
    return []
  }
}

export const storePicked = (files: readonly Picked[]): void => localStorage.setItem(PICKED, JSON.stringify(files))

export const rememberPicked = (uri: string, { name, lastModified }: File): void =>
  storePicked([...pickedFiles(), { uri, name, lastModified }])

/** At the end of a session: the next user of this browser must not find names of files. */
export const forgetPicked = (): void => localStorage.removeItem(PICKED)
