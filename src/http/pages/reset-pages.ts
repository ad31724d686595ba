import type { PasswordRule, PasswordRules } from '../../accounts/password-rules.ts'
import { MAX_PASSWORD_CHARACTERS } from '../../accounts/passwords.ts'
import { InvalidInput } from '../../base/errors.ts'
import { fill, type Html, html, type PageContext, page, scripted, showPassword } from './html.ts'
import type { Refusal } from './sign-in-pages.ts'
import { type Words, wordsForProblem } from './messages.ts'

/** The form for the address of the mail. */
export const askResetPage = (context: PageContext, action: string): string =>
  page(
    context,
    context.words.forgot,
    html`<p>${context.words.mailWanted}</p><form method="post" action="${action}">
<label class="field"><span>${context.words.email}</span><input name="email" type="email" autocomplete="username" required autofocus></label>
<button class="button wide">${context.words.sendLink}</button></form>${wayBack(context)}`,
  )

interface NewPasswordForm {
  readonly action: string
  readonly rules: readonly PasswordRule[]
  /** What an earlier password was refused for. */
  readonly broken?: readonly PasswordRule[] | undefined
}

/** The rules that a password broke, if the error is about them: a browser gets the form again, with these rules. */
export function brokenRules({ all }: PasswordRules, error: unknown): readonly PasswordRule[] | undefined {
  if (!(error instanceof InvalidInput) || error.code !== 'password-rules') return undefined
  const names = error.extra['rules']
  return all.filter(({ name }) => Array.isArray(names) && names.includes(name))
}

/** Behind the link of the mail: the new password. Nothing happens before it is sent. */
export const newPasswordPage = (context: PageContext, form: NewPasswordForm & { readonly token: string }): string =>
  page(
    context,
    context.words.newPasswordTitle,
    html`${rulesNotice(context, form)}${passwordForm(context, form, html`<input type="hidden" name="token" value="${form.token}">`)}`,
    scripted(context),
  )

interface TemporaryPasswordForm extends NewPasswordForm {
  /** For password managers. */
  readonly userName: string | undefined
  /** Another reason why an earlier password was refused. */
  readonly refusal: Pick<Refusal, 'code' | 'detail'> | undefined
}

/** The step of a sign-in that replaces a temporary password; works without scripts. */
export const temporaryPasswordPage = (context: PageContext, form: TemporaryPasswordForm): string => {
  const { words, home } = context
  const { userName = '', refusal } = form
  const refused =
    refusal && html`<p class="notice bad" role="alert">${wordsForProblem(words, refusal.code) ?? refusal.detail}</p>`
  return page(
    context,
    words.temporaryPasswordTitle,
    html`${refused ?? rulesNotice(context, form)}<p>${words.temporaryPasswordText}</p>
${passwordForm(context, form, html`<input type="text" value="${userName}" autocomplete="username" readonly hidden>`)}
<p class="aside"><a href="${home}">${words.back}</a></p>`,
    scripted(context),
  )
}

const rulesNotice = ({ words }: PageContext, { broken }: NewPasswordForm): Html | [] =>
  broken ? html`<div class="notice bad" role="alert"><p>${words.rulesBroken}</p>${list(words, broken)}</div>` : []

const passwordForm = (context: PageContext, { action, rules }: NewPasswordForm, hidden: Html): Html => {
  const { words } = context
  return html`<form method="post" action="${action}">${hidden}
<label class="field"><span>${words.newPassword}</span><input name="password" type="password" autocomplete="new-password" maxlength="${MAX_PASSWORD_CHARACTERS}" required autofocus aria-describedby="rules"></label>
${showPassword(context)}
<div class="hint" id="rules"><p>${words.rulesTitle}</p>${list(words, rules)}</div>
<button class="button wide">${words.setPassword}</button></form>`
}

const list = (words: Words, rules: readonly PasswordRule[]): Html =>
  html`<ul>${rules.map(({ kind, value = '' }) => html`<li>${fill(words[`rule.${kind}`], { count: value, pattern: value })}</li>`)}</ul>`

/** A sentence and a way on. */
export const noticePage = (
  context: PageContext,
  { title, notice, onward }: { readonly title: string; readonly notice: string; readonly onward: string },
): string =>
  page(context, title, html`<p>${notice}</p><p><a class="button wide" href="${onward}">${context.words.goOn}</a></p>`)

const wayBack = ({ home, words }: PageContext): Html => html`<p class="aside"><a href="${home}">${words.back}</a></p>`
