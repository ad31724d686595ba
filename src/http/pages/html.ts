import { escapeHtml } from '../../base/text.ts'
import type { Words } from './messages.ts'

/** Markup whose inserted values are escaped; other `Html`, also a list of it, is inserted as it is. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

type Inserted = string | number | Html | readonly Html[]

export function html(strings: TemplateStringsArray, ...values: readonly Inserted[]): Html {
  const inserted = values.map(markupOf)
  return new Html(strings.reduce((all, part, index) => all + (inserted[index - 1] ?? '') + part))
}

function markupOf(value: Inserted): string {
  if (value instanceof Html) return value.markup
  if (typeof value === 'object') return value.map(({ markup }) => markup).join('')
  return escapeHtml(String(value))
}

/** A message with its places filled; what is inserted is escaped unless it is markup. */
export function fill(message: string, values: Readonly<Record<string, string | number | Html>>): Html {
  const parts = message.split(/\{(\w+)\}/)
  return new Html(parts.map((part, index) => markupOf(index % 2 === 0 ? part : (values[part] ?? ''))).join(''))
}

/** What all pages for one reader have in common. Addresses are absolute, from the base address. */
export interface PageContext {
  readonly language: string
  readonly words: Words
  readonly style: string
  readonly icon: string
  /** For the pages of the sign-in, which work without it. */
  readonly script: string
  /** Where users sign in. */
  readonly home: string
  /** Where the application is. */
  readonly application: string
}

/** For pages made here: only their own style sheet, scripts from the service, and forms that lead to the service. */
const pagePolicy = policyFor("'self'")

/** The policy of a page whose form leads elsewhere, with perhaps one script, which is identified by its digest. */
export function policyFor(formAction: string, scripts = "'self'"): string {
  return `default-src 'none'; script-src ${scripts}; style-src 'self'; img-src 'self'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
}

/** Hidden until the script of the page makes it work. */
export const showPassword = ({ words }: PageContext): Html =>
  html`<label class="check" data-show-password hidden><input type="checkbox"> ${words.showPassword}</label>`

/** The head of a page with a script. */
export const scripted = ({ script }: PageContext): Html => html`<script type="module" src="${script}"></script>`

/** A whole document around the main part of a page. */
export const page = (context: PageContext, title: string, main: Html, head: Html = new Html('')): string =>
  `<!doctype html>\n${
    html`<html lang="${context.language}"><head><meta charset="utf-8"><title>${title} &ndash; Stowage</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="${context.icon}" type="image/svg+xml"><link rel="stylesheet" href="${context.style}">${head}</head>
<body class="gate"><header><a class="brand" href="${context.home}"><img src="${context.icon}" alt="" width="32" height="32">Stowage</a></header>
<main class="card"><h1>${title}</h1>${main}</main></body></html>`.markup
  }\n`

/**
 * Headers of a page with a form. With `no-referrer`, which all other responses have, a browser sends `Origin: null` with the form, and the
 * guard against other sites refuses it (D2.9). This policy also keeps the address, and a token in it, from other sites.
 */
export const pageHeaders = { 'content-security-policy': pagePolicy, 'referrer-policy': 'strict-origin' } as const

/** The same for a page whose script requests something of the service. */
export const scriptedPageHeaders = {
  ...pageHeaders,
  'content-security-policy': `${pagePolicy}; connect-src 'self'`,
} as const
