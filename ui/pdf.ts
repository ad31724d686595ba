import { getDocument, type PDFDocumentProxy, type PDFPageProxy, TextLayer, VerbosityLevel } from 'pdfjs-dist'
import * as worker from 'pdfjs-dist/build/pdf.worker.mjs'

// The one script of the page that draws PDF documents. That page runs in a sandbox: it has no origin, so no cookie, no session and no
// storage, and its policy lets it fetch nothing. It gets the bytes from the page around it, and says when it has drawn them.

// A sandbox cannot start threads of another origin, so pdf.js parses here, in the process of the sandbox.
Object.assign(globalThis, { pdfjsWorker: worker })

interface Order {
  readonly bytes: ArrayBuffer
  /** What screen readers call a page, with `{page}` and `{pages}`. */
  readonly label: string
}

/** Further pages are not drawn: the file can be downloaded. */
const MAX_PAGES = 200
/** Of one side of a canvas; browsers draw nothing in larger ones. */
const MAX_PIXELS = 4096

const report = (message: { readonly pages: number } | { readonly failed: true }): void =>
  parent.postMessage(message, '*')

async function show({ bytes, label }: Order): Promise<void> {
  const pdf = await getDocument({
    data: new Uint8Array(bytes),
    isEvalSupported: false,
    useWorkerFetch: false,
    useWasm: false,
    useSystemFonts: true,
    enableXfa: false,
    verbosity: VerbosityLevel.ERRORS,
  }).promise
  const root = document.querySelector('#pages')
  const first = await pdf.getPage(1)
  const { width, height } = first.getViewport({ scale: 1 })
  const drawn = drawer(pdf)
  for (let number = 1; number <= Math.min(pdf.numPages, MAX_PAGES); number++) {
    const canvas = document.createElement('canvas')
    canvas.setAttribute('role', 'img')
    canvas.setAttribute('aria-label', label.replace('{page}', String(number)).replace('{pages}', String(pdf.numPages)))
    // The size of most pages is that of the first; it keeps the place until the page is drawn.
    canvas.width = Math.round(width)
    canvas.height = Math.round(height)
    canvas.dataset['page'] = String(number)
    const place = document.createElement('div')
    place.className = 'page'
    place.append(canvas)
    root?.append(place)
    drawn.observe(canvas)
  }
  report({ pages: pdf.numPages })
}

/** Draws each page when it comes near the window, one after the other. */
function drawer(pdf: PDFDocumentProxy): IntersectionObserver {
  let last: Promise<void> = Promise.resolve()
  const observer = new IntersectionObserver(
    entries => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting || !(target instanceof HTMLCanvasElement)) continue
        observer.unobserve(target)
        // A page that cannot be drawn stays empty; the others are drawn all the same.
        last = last.then(() => draw(pdf, target)).catch(() => undefined)
      }
    },
    { rootMargin: '50%' },
  )
  return observer
}

async function draw(pdf: PDFDocumentProxy, canvas: HTMLCanvasElement): Promise<void> {
  const page = await pdf.getPage(Number(canvas.dataset['page']))
  const { width, height } = page.getViewport({ scale: 1 })
  const wanted = (canvas.clientWidth * devicePixelRatio) / width
  const scale = Math.min(wanted, MAX_PIXELS / width, MAX_PIXELS / height)
  const viewport = page.getViewport({ scale })
  canvas.width = Math.floor(viewport.width)
  canvas.height = Math.floor(viewport.height)
  await page.render({ canvas, viewport }).promise
  await addText(page, canvas, canvas.clientWidth / width)
  canvas.dataset['state'] = 'drawn'
}

/** The text of a page lies over its picture, unseen: it can be selected and read aloud. @param scale of the picture as it is shown */
async function addText(page: PDFPageProxy, canvas: HTMLCanvasElement, scale: number): Promise<void> {
  const container = document.createElement('div')
  container.className = 'text-layer'
  container.style.setProperty('--total-scale-factor', String(scale))
  canvas.after(container)
  const viewport = page.getViewport({ scale })
  await new TextLayer({ textContentSource: page.streamTextContent(), container, viewport }).render()
}

addEventListener(
  'message',
  (event: MessageEvent<Order>) => {
    if (event.source !== parent) return
    show(event.data).catch(() => report({ failed: true }))
  },
  { once: true },
)
