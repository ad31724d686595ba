import { type Catalogues, wordKeys } from './pages/messages.ts'
import type { Coding } from './protocol/compression.ts'

/** A file of the user interface, as it is sent. */
export interface Asset {
  readonly bytes: Buffer
  /** The same, compressed at build time. */
  readonly coded: Readonly<Partial<Record<Coding, Buffer>>>
  readonly mediaType: string
}

/** The built user interface. Names contain a hash of the content, so the content of a name never changes. */
export interface UiAssets {
  /** File names of what pages ask for. */
  readonly names: {
    /** The script of the application. */
    readonly app: string
    /** The script of the sign-in page. */
    readonly login: string
    readonly style: string
    readonly icon: string
  }
  readonly files: ReadonlyMap<string, Asset>
  /** The words of the pages that the service makes itself. */
  readonly words: Catalogues
}

/** Where a file of the user interface is, from the base address on. */
export const assetPath = (name: string): string => `ui/assets/${name}`

/** The words of the pages as the build wrote them. @throws {Error} when a language lacks a key */
export function readWords(text: string): Catalogues {
  const words = JSON.parse(text) as Catalogues
  for (const [language, catalogue] of Object.entries(words))
    for (const key of wordKeys) if (!Object.hasOwn(catalogue, key)) throw new Error(`no word for ${key} in ${language}`)
  return words
}
