import { fill, html, type PageContext, page } from './html.ts'

/** The page for a user who is already signed in. */
export const signedInPage = (
  context: PageContext,
  userName: string,
  { account, logout }: { readonly account: string; readonly logout: string },
): string => {
  const { words } = context
  return page(
    context,
    words.signedIn,
    html`<p>${fill(words.signedInAs, { name: html`<strong>${userName}</strong>` })}</p>
<p><a class="button wide" href="${account}">${words.account}</a></p>
<form method="post" action="${logout}"><button class="button quiet wide">${words.signOut}</button></form>`,
  )
}
