import { html, page } from './html.ts'

/** What a person sees instead of a JSON problem (D1.4), with the way back to where it began. */
export const errorPage = (title: string, detail: string, loginUrl: string): string =>
  page(title, html`<p class="problem">${detail}</p><p><a href="${loginUrl}">Back to signing in</a></p>`)
