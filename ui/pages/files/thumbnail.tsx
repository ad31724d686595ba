import { useState } from 'preact/hooks'
import { Icon, type IconName } from '../../components/icon.tsx'
import { address } from '../../lib/base.ts'
import { type Item, resourcePath } from '../../lib/files.ts'
import { isPicture } from './file-content.tsx'

/** The service makes no small pictures, so larger ones are not fetched for a list. */
const MAX_BYTES = 262_144

/** A small picture of an image; the icon of its type for all other files. */
export function Thumbnail({ item, icon }: { readonly item: Item; readonly icon: IconName }) {
  const [hasFailed, setFailed] = useState(false)
  const { size, mediaType } = item
  if (hasFailed || size === undefined || size > MAX_BYTES || !isPicture(mediaType)) return <Icon name={icon} />
  return (
    <img
      class="thumbnail"
      src={address(resourcePath(item))}
      alt=""
      width={28}
      height={28}
      loading="lazy"
      decoding="async"
      onError={() => setFailed(true)}
    />
  )
}
