import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { StartupError } from '../base/errors.ts'
import { type Asset, readWords, type UiAssets } from '../http/page.ts'

const folder = new URL('../ui/', import.meta.url)
const MANIFEST = 'manifest.json'

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Part of `assembly/server.ts`: the built pages, read once. @throws {StartupError} when they have not been built */
export async function loadUi(): Promise<UiAssets> {
  try {
    const names = JSON.parse(await readFile(new URL(MANIFEST, folder), 'utf8')) as UiAssets['names']
    const files = new Map<string, Asset>()
    for (const name of await readdir(folder)) {
      const mediaType = mediaTypes[extname(name)]
      if (mediaType === undefined) continue
      const read = (suffix: string): Promise<Buffer> => readFile(new URL(name + suffix, folder))
      files.set(name, { mediaType, bytes: await read(''), coded: { br: await read('.br'), gzip: await read('.gz') } })
    }
    return { names, files, words: readWords(await readFile(new URL('words.json', folder), 'utf8')) }
  } catch (error) {
    throw new StartupError('The pages of the user interface are missing. Run `npm run build`.', { cause: error })
  }
}
