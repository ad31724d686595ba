import { html, type PageContext, page } from './html.ts'

/** What a person sees instead of a JSON problem (D1.4), with the way on: to the sign-in page, or else to the application. */
export const errorPage = (
  context: PageContext,
  { title, detail, isSignIn }: { readonly title: string; readonly detail: string; readonly isSignIn: boolean },
): string => {
  const { words, home, application } = context
  return page(
    context,
    title,
    html`<p class="notice bad">${detail}</p><p><a class="button quiet" href="${isSignIn ? home : application}">${
      isSignIn ? words.back : words.toHome
    }</a></p>`,
  )
}
