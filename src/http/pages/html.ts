import { createHash } from 'node:crypto'
import { escapeHtml } from '../../base/escape-html.ts'

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

const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--edge:#d0d7de;--accent:#0b5cad;--on-accent:#fff;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#14181d;--edge:#3a424c;--accent:#6cb0ff;--on-accent:#0b1117;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:24rem}
h1{font-size:1.5rem;margin:0 0 1rem}
form{display:grid;gap:1rem}
label{display:grid;gap:.25rem;font-weight:600}
input{font:inherit;padding:.6rem .7rem;border:1px solid var(--edge);border-radius:.4rem;background:transparent;color:inherit}
button{font:inherit;font-weight:600;padding:.65rem;border:0;border-radius:.4rem;background:var(--accent);color:var(--on-accent);cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
a{color:var(--accent)}
.problem{color:var(--bad)}
`

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** For the pages made here: their one style, forms to the service itself, nothing else. */
const pagePolicy = policyFor("'self'")

/** The same for a page with a form to elsewhere, and perhaps one script, known by its digest. */
export function policyFor(formAction: string, script?: string): string {
  const scripts = script === undefined ? '' : `script-src 'sha256-${digestOf(script)}'; `
  return `default-src 'none'; style-src 'sha256-${digestOf(style)}'; ${scripts}form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
}

/** A whole document around the main part of a page. */
export const page = (title: string, main: Html, head: Html = new Html('')): string =>
  `<!doctype html>\n${
    html`<html lang="en"><head><meta charset="utf-8"><title>${title} – Stowage</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${new Html(style)}</style>${head}</head>
<body><main><h1>${title}</h1>${main}</main></body></html>`.markup
  }\n`

/**
 * Headers of a page with a form. Under the stricter `no-referrer` of all other answers a browser sends `Origin: null` with
 * the form, and the guard against other sites refuses it (D2.9); this one too keeps the address, and a token in it, back.
 */
export const pageHeaders = { 'content-security-policy': pagePolicy, 'referrer-policy': 'strict-origin' } as const
