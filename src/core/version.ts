import { readFileSync } from 'node:fs'

interface Manifest {
  readonly version: string
  readonly gitHead?: string
}

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest

/** The version of the program, as its package says. */
export const version: string = manifest.version

/** The commit from which a package was built. A clone does not have it. */
export const commit: string | undefined = manifest.gitHead
