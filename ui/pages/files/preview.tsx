import { Dialog } from '../../components/dialog.tsx'
import { Button } from '../../components/button.tsx'
import { address } from '../../lib/base.ts'
import { valuesOf } from '../../lib/graph.ts'
import { detailsIn, type Item, resourcePath, TAG } from '../../lib/files.ts'
import { tellType } from '../../lib/file-types.ts'
import { bytes, dateTime } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'
import { FileContent } from './file-content.tsx'

interface PreviewProps {
  readonly item: Item
  readonly onClose: () => void
}

/** Shows a file as far as the browser can do so without running anything in it, and its details. */
export function Preview({ item, onClose }: PreviewProps) {
  const { name, size, mediaType, modified, metadata = {} } = item
  const { title, description } = detailsIn(metadata)
  const tags = valuesOf(metadata, TAG)
  return (
    <Dialog title={visible(name)} size="large" onClose={onClose}>
      <FileContent source={address(resourcePath(item))} name={name} size={size} mediaType={mediaType} />
      <p class="muted small">
        {[tellType(mediaType, name), size === undefined ? undefined : bytes(size), modified && dateTime(modified)]
          .filter(text => text !== undefined)
          .join(' · ')}
      </p>
      {title !== '' && title !== name && <h3>{visible(title)}</h3>}
      {description !== '' && <p class="prose">{description}</p>}
      {tags.length > 0 && (
        <p class="badges">
          {tags.map(tag => (
            <span key={tag} class="badge plain">
              {visible(tag)}
            </span>
          ))}
        </p>
      )}
      <div class="buttons">
        <Button kind="quiet" onPress={onClose}>
          {t('close')}
        </Button>
        {size !== undefined && (
          <a class="button" href={address(`${resourcePath(item)}?download`)} download>
            {t('download')}
          </a>
        )}
      </div>
    </Dialog>
  )
}
