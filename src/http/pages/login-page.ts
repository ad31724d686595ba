import { html, page } from './html.ts'

/** Another way in than by password, or a way to a new one. */
export interface LoginLink {
  readonly text: string
  readonly url: string
}

/** The form for signing in, and the other ways in; works without scripts. */
export const loginPage = (cookieAction: string, links: readonly LoginLink[]): string =>
  page(
    'Sign in',
    html`<form method="post" action="${cookieAction}">
<label>User name<input name="auth_username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus></label>
<label>Password<input name="auth_password" type="password" autocomplete="current-password" maxlength="2048" required></label>
<button>Sign in</button></form>${links.map(({ text, url }) => html`<p><a href="${url}">${text}</a></p>`)}`,
  )

/** For somebody who is signed in already. */
export const signedInPage = (userName: string, logoutAction: string): string =>
  page(
    'Signed in',
    html`<p>You are signed in as <strong>${userName}</strong>.</p>
<form method="post" action="${logoutAction}"><button>Sign out</button></form>`,
  )
