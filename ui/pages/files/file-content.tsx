import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Await } from '../../components/page.tsx'
import { Problem } from '../../lib/api.ts'
import { parseCsv } from '../../lib/csv.ts'
import { isPicture } from '../../lib/file-types.ts'
import { bytes, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { lazy } from '../../lib/lazy.tsx'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import { Picture } from './picture.tsx'

const texts = /^text\/|^application\/(?:json|xml|ld\+json|rdf\+xml|javascript)$|\+(?:json|xml)$/
const markdowns = /^text\/(?:x-)?markdown$/
const tables = /^text\/(?:csv|tab-separated-values)$/

interface FileContentProps {
  /** Its address. */
  readonly source: string
  readonly name: string
  /** Bytes; `undefined` while there is no file. */
  readonly size: number | undefined
  readonly mediaType: string | undefined
  /** Whether each time that it is fetched counts. */
  readonly isCounted?: boolean
}

/** Documents are parsed in a browser's memory. */
const MAX_PDF = 50_000_000
const PdfPreview = lazy(async () => (await import('./pdf-preview.tsx')).PdfPreview, 'part')
const Markdown = lazy(async () => (await import('./markdown.tsx')).default, 'part')

/**
 * Media elements, text, and a drawing of a PDF document in a sandbox: no document of a user's is ever opened within the page, so none
 * can act in it.
 */
export function FileContent({ source, name, size, mediaType = '', isCounted = false }: FileContentProps) {
  if (size === undefined) return <p class="empty">{t('noFileYet')}</p>
  if (mediaType === 'image/svg+xml' && size <= MAX_SVG)
    return <Drawing source={source} name={name} size={size} isCounted={isCounted} />
  if (isPicture(mediaType)) return <Picture key={source} source={source} name={name} size={size} />
  if (mediaType.startsWith('audio/'))
    return <audio class="preview" src={source} preload="metadata" controls aria-label={visible(name)} />
  if (mediaType.startsWith('video/'))
    return <video class="preview" src={source} preload="metadata" controls aria-label={visible(name)} />
  if (mediaType === 'application/pdf' && size <= MAX_PDF) return <PdfPreview source={source} name={name} />
  if (markdowns.test(mediaType) || (texts.test(mediaType) && /\.(?:md|markdown)$/i.test(name))) {
    return (
      <Text source={source} size={size}>
        {text => <Markdown text={text} />}
      </Text>
    )
  }
  if (tables.test(mediaType)) {
    return (
      <Text source={source} size={size}>
        {text => <Csv text={text} name={name} />}
      </Text>
    )
  }
  if (texts.test(mediaType)) return <Plain source={source} size={size} />
  return <p class="empty">{t('noPreview')}</p>
}

/** Drawing a larger one would stop the page. */
const MAX_SVG = 5_000_000

type DrawingProps = Pick<FileContentProps, 'source' | 'name' | 'isCounted'> & { readonly size: number }

/** An SVG as an image, in which browsers run no scripts and load nothing; or its text. */
function Drawing({ source, name, size, isCounted = false }: DrawingProps) {
  const [showsText, setShowsText] = useState(false)
  return (
    <>
      {showsText ? (
        <Plain source={source} size={size} />
      ) : (
        <img class="preview drawing" src={source} alt={visible(name)} onError={() => setShowsText(!isCounted)} />
      )}
      {!isCounted && (
        <div class="buttons">
          <Button kind="quiet" size="small" onPress={() => setShowsText(!showsText)}>
            {t(showsText ? 'showImage' : 'showText')}
          </Button>
        </div>
      )}
    </>
  )
}

const Plain = ({ source, size }: { readonly source: string; readonly size: number }) => (
  <Text source={source} size={size}>
    {text => (
      <pre class="preview" tabIndex={0}>
        {text}
      </pre>
    )}
  </Text>
)

const MAX_TEXT = 100_000

interface TextProps {
  readonly source: string
  readonly size: number
  readonly children: (text: string) => ComponentChildren
}

function Text({ source, size, children }: TextProps) {
  const [loaded, again] = useLoaded(signal => loadText(source, size, signal), [source])
  return (
    <Await loaded={loaded} again={again}>
      {text => (
        <>
          {children(text)}
          {size > MAX_TEXT && <p class="muted small">{t('previewCut', { size: bytes(MAX_TEXT) })}</p>}
        </>
      )}
    </Await>
  )
}

const MAX_ROWS = 200

/** The first rows of a table. */
function Csv({ text, name }: { readonly text: string; readonly name: string }) {
  const [head = [], ...rows] = parseCsv(text, MAX_ROWS + 2)
  return (
    <div class="preview sheet" tabIndex={0} role="region" aria-label={visible(name)}>
      <table>
        <thead>
          <tr>
            {head.map((value, index) => (
              <th key={index} scope="col">
                {value}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, index) => (
            <tr key={index}>
              {row.map((value, column) => (
                <td key={column}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ROWS && <p class="muted small">{t('firstRows', { count: number(MAX_ROWS) })}</p>}
    </div>
  )
}

/** The beginning of a text. @throws {Problem} */
async function loadText(source: string, size: number, signal: AbortSignal): Promise<string> {
  const headers = size > MAX_TEXT ? { range: `bytes=0-${MAX_TEXT - 1}` } : {}
  const response = await fetch(source, { signal, headers })
  if (!response.ok) throw new Problem(response.status, {})
  return new TextDecoder().decode(await response.arrayBuffer())
}
