import type { PasswordRule } from '../../accounts/password-rules.ts'
import { MAX_PASSWORD_CHARACTERS } from '../../accounts/passwords.ts'
import { fill, type Html, html, type PageContext, page } from './html.ts'
import type { Words } from './messages.ts'

/** The form for the address of the mail. */
export const askResetPage = (look: PageContext, action: string): string =>
  page(
    look,
    look.words.forgot,
    html`<p>${look.words.mailWanted}</p><form method="post" action="${action}">
<label class="field"><span>${look.words.email}</span><input name="email" type="email" autocomplete="username" required autofocus></label>
<button class="button wide">${look.words.sendLink}</button></form>${wayBack(look)}`,
  )

export interface NewPasswordForm {
  readonly action: string
  readonly token: string
  readonly rules: readonly PasswordRule[]
  /** What an earlier password was refused for. */
  readonly broken?: readonly PasswordRule[] | undefined
}

/** Behind the link of the mail: the new password. Nothing happens before it is sent. */
export const newPasswordPage = (look: PageContext, { action, token, rules, broken }: NewPasswordForm): string =>
  page(
    look,
    look.words.newPasswordTitle,
    html`${broken ? html`<div class="notice bad" role="alert"><p>${look.words.rulesBroken}</p>${list(look.words, broken)}</div>` : []}
<form method="post" action="${action}"><input type="hidden" name="token" value="${token}">
<label class="field"><span>${look.words.newPassword}</span><input name="password" type="password" autocomplete="new-password" maxlength="${MAX_PASSWORD_CHARACTERS}" required autofocus aria-describedby="rules"></label>
<div class="hint" id="rules"><p>${look.words.rulesTitle}</p>${list(look.words, rules)}</div>
<button class="button wide">${look.words.setPassword}</button></form>`,
  )

const list = (words: Words, rules: readonly PasswordRule[]): Html =>
  html`<ul>${rules.map(({ kind, value = '' }) => html`<li>${fill(words[`rule.${kind}`], { count: value, pattern: value })}</li>`)}</ul>`

/** A sentence and a way on. */
export const noticePage = (
  look: PageContext,
  { title, notice, onward }: { readonly title: string; readonly notice: string; readonly onward: string },
): string =>
  page(look, title, html`<p>${notice}</p><p><a class="button wide" href="${onward}">${look.words.goOn}</a></p>`)

const wayBack = ({ home, words }: PageContext): Html => html`<p class="aside"><a href="${home}">${words.back}</a></p>`
