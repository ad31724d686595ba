import { useEffect, useRef, useState } from 'preact/hooks'
import { Await } from '../../components/page.tsx'
import { Problem } from '../../lib/api.ts'
import { address } from '../../lib/base.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'

interface PdfPreviewProps {
  readonly source: string
  readonly name: string
}

/**
 * A PDF document, drawn in a frame without origin: nothing in the document, and no fault of what parses it, reaches the session or
 * the service. This page fetches the bytes and hands them over.
 */
export function PdfPreview({ source, name }: PdfPreviewProps) {
  const [loaded, again] = useLoaded(signal => load(source, signal), [source])
  return (
    <Await loaded={loaded} again={again}>
      {bytes => <Drawn key={source} bytes={bytes} name={name} />}
    </Await>
  )
}

/** @throws {Problem} */
async function load(source: string, signal: AbortSignal): Promise<ArrayBuffer> {
  const response = await fetch(source, { signal })
  if (!response.ok) throw new Problem(response.status, {})
  return await response.arrayBuffer()
}

function Drawn({ bytes, name }: { readonly bytes: ArrayBuffer; readonly name: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [state, setState] = useState<'drawing' | 'drawn' | 'failed'>('drawing')
  useEffect(() => {
    const listen = (event: MessageEvent<{ readonly pages?: number }>): void => {
      if (event.source !== frame.current?.contentWindow) return
      setState(typeof event.data.pages === 'number' ? 'drawn' : 'failed')
    }
    addEventListener('message', listen)
    return () => removeEventListener('message', listen)
  }, [])
  // A frame without origin can be addressed in no other way. The bytes are copied: the frame may be loaded again.
  const hand = (): void =>
    frame.current?.contentWindow?.postMessage({ bytes, label: t('pdfPage', { page: '{page}', pages: '{pages}' }) }, '*')
  if (state === 'failed') return <p class="empty">{t('noPreview')}</p>
  return (
    <iframe
      ref={frame}
      class="preview pdf"
      sandbox="allow-scripts"
      src={address('ui/pdf')}
      title={visible(name)}
      aria-busy={state === 'drawing'}
      onLoad={hand}
    />
  )
}
