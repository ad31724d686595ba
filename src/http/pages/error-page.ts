import { html, type PageContext, page } from './html.ts'

/** What a person sees instead of a JSON problem (D1.4), with the way back to where it began. */
export const errorPage = (look: PageContext, title: string, detail: string): string =>
  page(
    look,
    title,
    html`<p class="notice bad">${detail}</p><p><a class="button quiet" href="${look.home}">${look.words.back}</a></p>`,
  )
