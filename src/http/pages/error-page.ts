import { html, page } from './html.ts'

/** What a person sees instead of a JSON problem (D1.4). */
export const errorPage = (title: string, detail: string): string => page(title, html`<p class="problem">${detail}</p>`)
