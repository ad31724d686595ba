import type { ByteRange } from './blob-store.ts'

/** Whether this program created the key (`newBlobKey`): only such a key becomes part of a path or of an object's name. */
export const isBlobKey = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)

/** @throws {TypeError} */
export function requireBlobKey(key: string): void {
  if (!isBlobKey(key)) throw new TypeError('a blob key has 40 lower-case hexadecimal digits')
}

/** @throws {RangeError} */
export function requireRange({ first, last }: ByteRange): void {
  if (Number.isSafeInteger(first) && Number.isSafeInteger(last) && first >= 0 && first <= last) return
  throw new RangeError(`bytes ${first} to ${last} are not a range`)
}
