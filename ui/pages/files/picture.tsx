import { useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { bytes, percent } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'

interface PictureProps {
  /** Its address. */
  readonly source: string
  readonly name: string
  /** Bytes. */
  readonly size: number
}

/** Bytes of a picture that is fetched without being asked for. */
const MAX_UNASKED = 8 * 2 ** 20
/** How often the width that fits fits into the largest one. */
const MAX_SCALE = 16

/** A picture that fits into the preview and can be enlarged. A large one is fetched when the person wants it. */
export function Picture({ source, name, size }: PictureProps) {
  const [isWanted, setWanted] = useState(size <= MAX_UNASKED)
  const [scale, setScale] = useState(1)
  const picture = useRef<HTMLImageElement>(null)
  /** In pixels, of the picture as it fits. */
  const fitting = useRef(0)
  if (!isWanted) {
    return (
      <div class="empty stack">
        <p>{t('pictureLarge', { size: bytes(size) })}</p>
        <div class="buttons">
          <Button kind="quiet" onPress={() => setWanted(true)}>
            {t('pictureShow')}
          </Button>
        </div>
      </div>
    )
  }
  const zoom = (to: number): void => {
    if (scale === 1) fitting.current = picture.current?.clientWidth ?? 0
    setScale(Math.min(MAX_SCALE, Math.max(1, to)))
  }
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => zoom(scale * 2),
    '-': () => zoom(scale / 2),
    '0': () => zoom(1),
  }
  return (
    <div
      class="picture"
      onKeyDown={event => {
        const work = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key]
        if (!work) return
        event.preventDefault()
        work()
      }}
    >
      {/* Focusable, because what is enlarged scrolls. */}
      <div class="frame" tabIndex={0} role="group" aria-label={visible(name)}>
        <img
          ref={picture}
          class={scale === 1 ? 'preview' : 'preview enlarged'}
          style={scale === 1 ? '' : { width: `${fitting.current * scale}px` }}
          src={source}
          alt={visible(name)}
          onDblClick={() => zoom(scale === 1 ? 2 : 1)}
        />
      </div>
      <div class="buttons">
        <Button kind="quiet" size="small" label={t('zoomOut')} disabled={scale === 1} onPress={() => zoom(scale / 2)}>
          −
        </Button>
        <span class="small" role="status">
          {scale === 1 ? t('zoomFits') : percent(scale)}
        </span>
        <Button
          kind="quiet"
          size="small"
          label={t('zoomIn')}
          disabled={scale === MAX_SCALE}
          onPress={() => zoom(scale * 2)}
        >
          +
        </Button>
        {scale > 1 && (
          <Button kind="quiet" size="small" onPress={() => zoom(1)}>
            {t('zoomFit')}
          </Button>
        )}
      </div>
    </div>
  )
}
