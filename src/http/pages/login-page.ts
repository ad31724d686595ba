import { type Html, html, page } from './html.ts'

/** Another way in than by password, or a way to a new one. */
export interface LoginLink {
  readonly text: string
  readonly url: string
}

/**
 * The form for signing in, and the other ways in; works without scripts.
 * @param cookieAction where the form goes; `undefined` where passwords are not accepted
 */
export const loginPage = (cookieAction: string | undefined, links: readonly LoginLink[]): string =>
  page(
    'Sign in',
    html`${cookieAction === undefined ? [] : passwordForm(cookieAction)}${links.map(
      ({ text, url }) => html`<p><a href="${url}">${text}</a></p>`,
    )}`,
  )

const passwordForm = (action: string): Html => html`<form method="post" action="${action}">
<label>User name<input name="auth_username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus></label>
<label>Password<input name="auth_password" type="password" autocomplete="current-password" maxlength="2048" required></label>
<button>Sign in</button></form>`

/** For somebody who is signed in already. */
export const signedInPage = (userName: string, logoutAction: string): string =>
  page(
    'Signed in',
    html`<p>You are signed in as <strong>${userName}</strong>.</p>
<form method="post" action="${logoutAction}"><button>Sign out</button></form>`,
  )
