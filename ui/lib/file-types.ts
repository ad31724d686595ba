import type { Item } from './files.ts'
import { findMessage, t } from './language.ts'
import { visible } from './text.ts'

/** What a file is for people, by its media type; the first matching pattern wins. */
const kinds = [
  ['image', /^image\//],
  ['audio', /^audio\//],
  ['video', /^video\//],
  ['pdf', /^application\/pdf$/],
  ['spreadsheet', /^text\/(?:csv|tab-separated-values)$|ms-excel|spreadsheet/],
  ['presentation', /ms-powerpoint|presentation/],
  ['document', /msword|wordprocessing|opendocument\.text|rtf|epub/],
  ['page', /^text\/html$|xhtml/],
  ['data', /json|xml|turtle|n-triples|trig|n-quads|sparql/],
  ['archive', /zip|x-tar|gzip|x-7z|rar|x-bzip|zstd/],
  ['text', /^text\//],
] as const satisfies ReadonlyArray<readonly [string, RegExp]>

export type FileKind = (typeof kinds)[number][0] | 'file'

export const kindOf = (mediaType = ''): FileKind => kinds.find(([, pattern]) => pattern.test(mediaType))?.[0] ?? 'file'

const EXTENSION = /\.([a-z0-9]{1,5})$/i

/** The kind of a file in words; where the media type says nothing, its extension: `Text`, `Image`, `DWG`. */
export function tellType(mediaType: string | undefined, name: string): string {
  const kind = kindOf(mediaType)
  const extension = EXTENSION.exec(name)?.[1]
  if (kind === 'file' && extension !== undefined) return visible(extension).toUpperCase()
  return findMessage(`type.${kind}`) ?? kind
}

/** What an item is, in words. */
export const tellItemType = ({ kind, mediaType, name }: Pick<Item, 'kind' | 'mediaType' | 'name'>): string =>
  kind === 'file' ? tellType(mediaType, name) : kind === 'folder' ? t('folder') : t(`type.${kind}`)

const pictures = /^image\/(?:png|jpe?g|gif|webp|avif|bmp)$/

/** Whether browsers show files of this media type as pictures that do nothing. */
export const isPicture = (mediaType = ''): boolean => pictures.test(mediaType)
