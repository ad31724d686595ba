import { address, ofScript } from './base.ts'
import { EXIF_BYTES, embeddedPicture } from './embedded-picture.ts'
import { type Item, resourcePath } from './files.ts'

/** A picture scaled down by the browser, because the service makes no small ones. */
export interface SmallPicture {
  readonly bitmap: ImageBitmap
  /** Quarter turns clockwise until it is upright. */
  readonly turns: number
}

/** Bytes of the largest image that is fetched as a whole. */
const MAX_WHOLE = 4_194_304
/** Bytes that are fetched for small pictures until the page is loaded anew. */
const MAX_TOTAL = 33_554_432
const MAX_KEPT = 300
const HEIGHT = 96

const kept = new Map<string, SmallPicture | undefined>()
let fetched = 0
/** One is made at a time. */
let last: Promise<unknown> = Promise.resolve()

/** Changes when the picture does. */
export const pictureKey = ({ context, entryId, modified }: Item): string =>
  `${context}/${entryId}/${modified?.getTime()}`

/** What {@link makeSmallPicture} has made before. */
export const knownPicture = (item: Item): SmallPicture | undefined => kept.get(pictureKey(item))

/** A small picture of an image; `undefined` if it would cost too much or cannot be made. Rejects if `signal` is aborted. */
export async function makeSmallPicture(item: Item, signal: AbortSignal): Promise<SmallPicture | undefined> {
  const key = pictureKey(item)
  const made = last.then(async () => {
    signal.throwIfAborted()
    if (kept.has(key)) return kept.get(key)
    await idle()
    const picture = await fetchPicture(item, signal)
    kept.set(key, picture)
    for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest)
    return picture
  })
  last = made.catch(() => undefined)
  return await made
}

const idle = (): Promise<unknown> =>
  new Promise(resolve => ('requestIdleCallback' in globalThis ? requestIdleCallback(resolve) : setTimeout(resolve)))

/** Whether the person wants little to be fetched; not every browser says so. */
const savesData = (): boolean =>
  (navigator as { readonly connection?: { readonly saveData?: boolean } }).connection?.saveData === true

async function fetchPicture(item: Item, signal: AbortSignal): Promise<SmallPicture | undefined> {
  if (savesData()) return undefined
  const { mediaType = '', size = 0 } = item
  const embedded = /^image\/jpe?g$/.test(mediaType) ? await fetchEmbedded(item, signal) : undefined
  if (embedded) return await scaled(embedded.bytes, embedded.turns)
  if (size > MAX_WHOLE) return undefined
  const bytes = await fetchBytes(item, size, signal)
  return bytes && (await scaled(bytes, 0))
}

async function fetchEmbedded(item: Item, signal: AbortSignal) {
  const head = await fetchBytes(item, EXIF_BYTES, signal)
  return head && embeddedPicture(head)
}

/** The first bytes of a file, as long as there is something left of what may be fetched. */
async function fetchBytes(item: Item, length: number, signal: AbortSignal) {
  if (fetched + length > MAX_TOTAL) return undefined
  fetched += length
  const headers = { ...ofScript, range: `bytes=0-${length - 1}` }
  const response = await fetch(address(resourcePath(item)), { headers, signal })
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined
}

async function scaled(bytes: Uint8Array<ArrayBuffer>, turns: number): Promise<SmallPicture | undefined> {
  const bitmap = await createImageBitmap(new Blob([bytes]), { resizeHeight: HEIGHT, resizeQuality: 'medium' }).catch(
    () => undefined,
  )
  return bitmap && { bitmap, turns }
}
