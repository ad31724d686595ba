import { Await } from '../../components/page.tsx'
import { Problem } from '../../lib/api.ts'
import { bytes } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { lazy } from '../../lib/lazy.tsx'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'

const images = /^image\/(?:png|jpe?g|gif|webp|avif|bmp)$/
const texts = /^text\/|^application\/(?:json|xml|ld\+json|rdf\+xml|javascript)$|\+(?:json|xml)$/

interface FileContentProps {
  /** Its address. */
  readonly source: string
  readonly name: string
  /** Bytes; `undefined` while there is no file. */
  readonly size: number | undefined
  readonly mediaType: string | undefined
}

/** Documents are parsed in a browser's memory. */
const MAX_PDF = 50_000_000
const PdfPreview = lazy(async () => (await import('./pdf-preview.tsx')).PdfPreview, { isPart: true })

/**
 * Media elements, text, and a drawing of a PDF document in a sandbox: no document of a user's is ever opened within the page, so none
 * can act in it.
 */
export function FileContent({ source, name, size, mediaType = '' }: FileContentProps) {
  if (size === undefined) return <p class="empty">{t('noPreview')}</p>
  if (images.test(mediaType)) return <img class="preview" src={source} alt={visible(name)} />
  if (mediaType.startsWith('audio/')) return <audio class="preview" src={source} controls aria-label={visible(name)} />
  if (mediaType.startsWith('video/')) return <video class="preview" src={source} controls aria-label={visible(name)} />
  if (mediaType === 'application/pdf' && size <= MAX_PDF) return <PdfPreview source={source} name={name} />
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
