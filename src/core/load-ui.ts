import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Bytes } from '../base/units.ts'
import { StartupError } from '../base/errors.ts'
import type { Asset, UiAssets } from '../http/page.ts'
import type { Coding } from '../http/protocol/negotiate.ts'

/** dist/ui: beside the bundle of the program in dist/program, or seen from the sources, which tests run. */
const folder = new URL(import.meta.url.endsWith('.ts') ? '../../dist/ui/' : '../ui/', import.meta.url)
const MANIFEST = 'manifest.json'

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const suffixes: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' }

/** The built pages; their files are read when they are asked for. @throws {StartupError} when they have not been built */
export async function loadUi(): Promise<UiAssets> {
  try {
    const names = JSON.parse(await readFile(new URL(MANIFEST, folder), 'utf8')) as UiAssets['names']
    const files = new Map<string, Asset>()
    const present = new Set(await readdir(folder))
    for (const name of present) {
      const mediaType = mediaTypes[extname(name)]
      if (mediaType !== undefined) files.set(name, assetOf(name, mediaType, present))
    }
    return {
      names,
      files,
      words: JSON.parse(await readFile(new URL('words.json', folder), 'utf8')) as UiAssets['words'],
    }
  } catch (error) {
    throw new StartupError('The pages of the user interface are missing. Run `npm run build`.', { cause: error })
  }
}

function assetOf(name: string, mediaType: string, present: ReadonlySet<string>): Asset {
  const codings = (['br', 'gzip'] as const).filter(coding => present.has(name + suffixes[coding]))
  const plain = sharedFile(new URL(name, folder))
  const coded = new Map(codings.map(coding => [coding, sharedFile(new URL(name + suffixes[coding], folder))]))
  return { mediaType, codings, read: async coding => await ((coding && coded.get(coding)) ?? plain)() }
}

/** A larger file is not kept: a thread would hold 2.5 MB for the viewer of PDFs alone. */
const MAX_KEPT: Bytes = 131_072

/**
 * Returns a function that reads a file that never changes, at its first call. While the bytes of a large file are in use, all readers share
 * them: otherwise slow clients would multiply the memory.
 */
function sharedFile(file: URL): () => Promise<Buffer> {
  let known: Pick<WeakRef<Buffer>, 'deref'> | undefined
  let reading: Promise<Buffer> | undefined
  const load = async (): Promise<Buffer> => {
    const bytes = await readFile(file)
    known = bytes.length > MAX_KEPT ? new WeakRef(bytes) : { deref: () => bytes }
    return bytes
  }
  return async () => known?.deref() ?? (await (reading ??= load().finally(() => (reading = undefined))))
}
