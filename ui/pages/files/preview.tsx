import { Dialog } from '../../components/dialog.tsx'
import { Button } from '../../components/button.tsx'
import { Await } from '../../components/page.tsx'
import { Problem } from '../../lib/api.ts'
import { address } from '../../lib/base.ts'
import { valuesOf, titleIn } from '../../lib/contexts.ts'
import { type Item, resourcePath, TAG } from '../../lib/files.ts'
import { bytes, dateTime } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'

interface PreviewProps {
  readonly item: Item
  readonly onClose: () => void
}

/** Shows a file as far as the browser can do so without running anything in it, and its details. */
export function Preview({ item, onClose }: PreviewProps) {
  const { name, size, mediaType, modified, description, metadata } = item
  const title = titleIn(metadata)
  const tags = valuesOf(metadata, TAG)
  return (
    <Dialog title={visible(name)} size="large" onClose={onClose}>
      <Content item={item} />
      <p class="muted small">
        {[mediaType, size === undefined ? undefined : bytes(size), modified && dateTime(modified)]
          .filter(text => text !== undefined)
          .join(' · ')}
      </p>
      {title !== undefined && title !== name && <h3>{visible(title)}</h3>}
      {description !== undefined && <p class="prose">{description}</p>}
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

const images = /^image\/(?:png|jpe?g|gif|webp|avif|bmp)$/
const texts = /^text\/|^application\/(?:json|xml|ld\+json|rdf\+xml|javascript)$|\+(?:json|xml)$/

/**
 * Media elements and text only: a document of a user is never opened within the page, so it cannot run
 * scripts in it.
 */
function Content({ item }: { readonly item: Item }) {
  const { mediaType = '', size, name } = item
  const source = address(resourcePath(item))
  if (size === undefined) return <p class="empty">{t('noPreview')}</p>
  if (images.test(mediaType)) return <img class="preview" src={source} alt={visible(name)} />
  if (mediaType.startsWith('audio/')) return <audio class="preview" src={source} controls aria-label={visible(name)} />
  if (mediaType.startsWith('video/')) return <video class="preview" src={source} controls aria-label={visible(name)} />
  if (texts.test(mediaType)) return <Text source={source} size={size} />
  return <p class="empty">{t('noPreview')}</p>
}

const MAX_TEXT = 100_000

function Text({ source, size }: { readonly source: string; readonly size: number }) {
  const [loaded, again] = useLoaded(signal => loadText(source, size, signal), [source])
  return (
    <Await loaded={loaded} again={again}>
      {text => (
        <>
          <pre class="preview" tabIndex={0}>
            {text}
          </pre>
          {size > MAX_TEXT && <p class="muted small">{t('previewCut', { size: bytes(MAX_TEXT) })}</p>}
        </>
      )}
    </Await>
  )
}

/** The beginning of a text. @throws {Problem} */
async function loadText(source: string, size: number, signal: AbortSignal): Promise<string> {
  const headers = size > MAX_TEXT ? { range: `bytes=0-${MAX_TEXT - 1}` } : {}
  const response = await fetch(source, { signal, headers })
  if (!response.ok) throw new Problem(response.status, {})
  return new TextDecoder().decode(await response.arrayBuffer())
}
