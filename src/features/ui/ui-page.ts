import { html, type PageContext } from '../../http/pages/html.ts'

interface Application {
  /** Begins and ends with a slash. */
  readonly basePath: string
  /** Whether the service limits storage. */
  readonly hasQuotas: boolean
  /** Whether users can send each other mails. */
  readonly hasMails: boolean
  /** Where users without a context ask for one. */
  readonly contact: string | undefined
  readonly script: string
  /** Where the texts of each available language are. */
  readonly languages: Readonly<Record<string, string>>
  /** Scripts that are needed as well, and requests that the application will make first: both would otherwise wait for the script. */
  readonly preloads: { readonly scripts: readonly string[]; readonly data: readonly string[] }
}

/** The page around the application of `ui/`. */
export const uiPage = (
  context: PageContext,
  { basePath, hasQuotas, hasMails, contact, script, languages, preloads }: Application,
): string =>
  `<!doctype html>\n${
    html`<html lang="${context.language}" data-base="${basePath}" data-languages="${JSON.stringify(languages)}"${hasQuotas ? html` data-quotas` : []}${hasMails ? html` data-mails` : []}${contact === undefined ? [] : html` data-contact="${contact}"`}><head><meta charset="utf-8"><title>Stowage</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="${context.icon}" type="image/svg+xml"><link rel="stylesheet" href="${context.style}">
<script type="module" src="${script}"></script>${preloads.scripts.map(
      url => html`<link rel="modulepreload" href="${url}">`,
    )}${preloads.data.map(url => html`<link rel="preload" as="fetch" crossorigin href="${url}">`)}</head>
<body><div id="app"></div><noscript><div class="gate"><main class="card"><h1>Stowage</h1><p>${context.words.needsScript}</p>
<p><a class="button wide" href="${context.home}">${context.words.goOn}</a></p></main></div></noscript></body></html>`
      .markup
  }\n`

/** Nothing but the service itself: its scripts, its style, its pictures and media, its interface. */
export const uiPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The page that draws PDF documents, in a frame of the application. */
export const pdfPage = (context: PageContext, script: string): string =>
  `<!doctype html>\n${
    html`<html lang="${context.language}"><head><meta charset="utf-8"><title>PDF</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="${context.style}">
<script src="${script}"></script></head><body class="pdf"><main id="pages"></main></body></html>`.markup
  }\n`

/**
 * The page has no origin, wherever it is opened: no cookies, no storage, no answer of the service can be read. It may load its script and
 * style, and fonts and pictures that are in the document, and connect to nothing.
 * @param origin of the service, as the page has none that 'self' could mean
 */
export const pdfPolicy = (origin: string): string =>
  `sandbox allow-scripts; default-src 'none'; script-src ${origin}; style-src ${origin}; img-src blob: data:; font-src blob: data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'`
