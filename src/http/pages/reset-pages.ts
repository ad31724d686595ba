import { MOST_PASSWORD_CHARACTERS } from '../../accounts/passwords.ts'
import { html, page } from './html.ts'

/** Asks for the address that the mail goes to. */
export const askResetPage = (action: string): string =>
  page(
    'Forgot your password?',
    html`<form method="post" action="${action}">
<label>E-mail address<input name="email" type="email" autocomplete="username" required autofocus></label>
<button>Send me a link</button></form>`,
  )

/** Behind the link of the mail: the new password. Nothing happens before it is sent. */
export const newPasswordPage = (action: string, token: string): string =>
  page(
    'Set a new password',
    html`<form method="post" action="${action}"><input type="hidden" name="token" value="${token}">
<label>New password<input name="password" type="password" autocomplete="new-password" maxlength="${MOST_PASSWORD_CHARACTERS}" required autofocus></label>
<button>Set password</button></form>`,
  )

/** A sentence and a way on. */
export const noticePage = (title: string, notice: string, onward: string): string =>
  page(title, html`<p>${notice}</p><p><a href="${onward}">Go on</a></p>`)
