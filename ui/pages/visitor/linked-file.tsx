import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { address } from '../../lib/base.ts'
import { tellType } from '../../lib/file-types.ts'
import { bytes } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { linkedFile, type LinkedItem } from '../../lib/public-links.ts'
import { FileContent } from '../files/file-content.tsx'

interface LinkedFileProps {
  readonly link: string
  readonly item: LinkedItem
  /** Each time that the file is fetched counts, so it is fetched only when the visitor wants it. */
  readonly isLimited: boolean
}

/** A file behind a public link: shown as far as the browser can, and a button to download it. */
export function LinkedFile({ link, item, isLimited }: LinkedFileProps) {
  const { id, name, size, mediaType } = item
  const [isShown, setShown] = useState(!isLimited)
  const source = address(linkedFile(link, id))
  return (
    <div class="stack">
      {isShown && <FileContent source={source} name={name} size={size} mediaType={mediaType} isCounted={isLimited} />}
      <p class="muted small">{[tellType(mediaType, name), ...(size === undefined ? [] : [bytes(size)])].join(' · ')}</p>
      <div class="buttons">
        {!isShown && size !== undefined && (
          <Button kind="quiet" onPress={() => setShown(true)}>
            {t('linkPreview')}
          </Button>
        )}
        {size !== undefined && (
          <a class="button" href={`${source}?download`} download>
            {t('download')}
          </a>
        )}
      </div>
    </div>
  )
}
