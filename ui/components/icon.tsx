import { type FileKind, kindOf } from '../lib/file-types.ts'
import type { Item } from '../lib/files.ts'

const shapes = {
  folder: 'M3 6a2 2 0 0 1 2-2h4l2 2.5h8a2 2 0 0 1 2 2V18a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
  file: 'M6 3h8l5 5v11a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM14 3v5h5',
  text: 'M6 3h8l5 5v11a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM14 3v5h5M8 12h7M8 15h7M8 18h4',
  image: 'M5 4h14a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM3 17l5-5 4 4 3-3 6 5M15.5 9h.01',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700l-1.500 1.500M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700l1.500-1.500',
  audio: 'M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
  video: 'M4 6a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zM10 9v6l5-3z',
  archive: 'M4 4h16v4H4zM5 8v10a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8M10 12h4',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  plus: 'M12 5v14M5 12h14',
  download: 'M12 4v12M7 11l5 5 5-5M4 20h16',
  upload: 'M12 16V4M7 9l5-5 5 5M4 20h16',
  help: 'M9.5 9a2.5 2.5 0 1 1 3.500 2.300c-.7.4-1 .9-1 1.700M12 16.500h.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z',
  back: 'M15 6l-6 6 6 6',
  forward: 'M9 6l6 6-6 6',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.500 4.500',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  close: 'M6 6l12 12M18 6L6 18',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  menu: 'M4 6h16M4 12h16M4 18h16',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  warning: 'M12 3.5l9.5 16.5h-19zM12 10v4.5M12 17.5h.01',
  star: 'M12 3.5l2.6 5.6 6.1.7-4.5 4.2 1.2 6-5.4-3-5.4 3 1.2-6L3.300 9.800l6.1-.7z',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.5 3-6 6.5-6s6.5 2.5 6.5 6M16 4.5a3.5 3.5 0 0 1 0 6M18 14.5c2 .8 3.5 2.8 3.5 5.5',
} as const
export type IconName = keyof typeof shapes

/** A decorative picture that adds nothing to the text beside it. */
export function Icon({ name, kind = name }: { readonly name: IconName; readonly kind?: string }) {
  return (
    <svg class={`icon icon-${kind}`} viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  )
}

const iconOfKind: Readonly<Record<FileKind, IconName>> = {
  image: 'image',
  audio: 'audio',
  video: 'video',
  pdf: 'text',
  spreadsheet: 'text',
  presentation: 'text',
  document: 'text',
  page: 'text',
  data: 'text',
  text: 'text',
  archive: 'archive',
  file: 'file',
}

/** The icon for an item. */
export const iconOfItem = ({ kind, mediaType }: Pick<Item, 'kind' | 'mediaType'>): IconName =>
  kind === 'file' ? iconOf(mediaType) : kind

/** The icon for a media type. */
export const iconOf = (mediaType: string | undefined): IconName => iconOfKind[kindOf(mediaType)]
