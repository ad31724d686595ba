import type { PasswordRule, PasswordRules } from '../../accounts/password-rules.ts'
import { MAX_PASSWORD_CHARACTERS } from '../../accounts/passwords.ts'
import { InvalidInput } from '../../base/errors.ts'
import { fill, type Html, html, type PageContext, page, showPassword } from './html.ts'
import type { Words } from './messages.ts'

export interface NewPasswordForm {
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

/** The rules that an earlier password broke. */
export const rulesNotice = ({ words }: PageContext, { broken }: NewPasswordForm): Html | [] =>
  broken ? html`<div class="notice bad" role="alert"><p>${words.rulesBroken}</p>${list(words, broken)}</div>` : []

/** The field for a new password, with the rules for it. */
export const passwordForm = (context: PageContext, { action, rules }: NewPasswordForm, hidden: Html): Html => {
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
