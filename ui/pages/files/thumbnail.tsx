import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from '../../components/icon.tsx'
import { address } from '../../lib/base.ts'
import { isPicture } from '../../lib/file-types.ts'
import { type Item, resourcePath } from '../../lib/files.ts'
import { knownPicture, makeSmallPicture, pictureKey, type SmallPicture } from '../../lib/small-pictures.ts'

/** Bytes up to which an image is shown as it is. */
const MAX_BYTES = 262_144

interface ThumbnailProps {
  readonly item: Item
  readonly icon: IconName
}

/** A small picture of an image; the icon of its type for all other files. */
export function Thumbnail({ item, icon }: ThumbnailProps) {
  const [hasFailed, setFailed] = useState(false)
  const { size, mediaType } = item
  if (hasFailed || size === undefined || !isPicture(mediaType)) return <Icon name={icon} />
  if (size > MAX_BYTES) return <Scaled key={pictureKey(item)} item={item} icon={icon} />
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

/** The icon, until its row is in the window and a small picture has been made. */
function Scaled({ item, icon }: ThumbnailProps) {
  const [picture, setPicture] = useState(() => knownPicture(item))
  const box = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (picture || !box.current) return undefined
    const controller = new AbortController()
    const observer = new IntersectionObserver(entries => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      observer.disconnect()
      // Without a picture the icon stays; nothing that the person asked for has failed.
      makeSmallPicture(item, controller.signal).then(setPicture, () => undefined)
    })
    observer.observe(box.current)
    return () => {
      observer.disconnect()
      controller.abort()
    }
  }, [])
  return (
    <span class="thumbnail-box" ref={box}>
      {picture ? <Drawn picture={picture} /> : <Icon name={icon} />}
    </span>
  )
}

/** Device pixels of its sides, for screens that have two for each pixel of the page. */
const SIDE = 56
const QUARTER = Math.PI / 2

/** Draws the middle of a picture. */
function Drawn({ picture: { bitmap, turns } }: { readonly picture: SmallPicture }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useLayoutEffect(() => {
    const draw = canvas.current?.getContext('2d')
    if (!draw) return
    const scale = SIDE / Math.min(bitmap.width, bitmap.height)
    draw.translate(SIDE / 2, SIDE / 2)
    draw.rotate(turns * QUARTER)
    draw.scale(scale, scale)
    draw.drawImage(bitmap, -bitmap.width / 2, -bitmap.height / 2)
  }, [])
  return <canvas ref={canvas} class="thumbnail" width={SIDE} height={SIDE} aria-hidden="true" />
}
