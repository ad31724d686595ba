import { type Html, html, type PageContext, page, scripted } from '../../http/pages/html.ts'
import { type NewPasswordForm, passwordForm, rulesNotice } from '../../http/pages/password-pages.ts'

/** The form for the address of the mail. */
export const askResetPage = (context: PageContext, action: string): string =>
  page(
    context,
    context.words.forgot,
    html`<p>${context.words.mailWanted}</p><form method="post" action="${action}">
<label class="field"><span>${context.words.email}</span><input name="email" type="email" autocomplete="username" required autofocus></label>
<button class="button wide">${context.words.sendLink}</button></form>${wayBack(context)}`,
  )

/** Behind the link of the mail: the new password. Nothing happens before it is sent. */
export const newPasswordPage = (context: PageContext, form: NewPasswordForm & { readonly token: string }): string =>
  page(
    context,
    context.words.newPasswordTitle,
    html`${rulesNotice(context, form)}${passwordForm(context, form, html`<input type="hidden" name="token" value="${form.token}">`)}`,
    scripted(context),
  )

const wayBack = ({ home, words }: PageContext): Html => html`<p class="aside"><a href="${home}">${words.back}</a></p>`
