import { fill, type Html, html, type PageContext, page } from './html.ts'
import type { Refusal } from './login-page.ts'
import { wordsForProblem } from './messages.ts'
import { type PasskeyButton, passkeyButton } from './passkey-button.ts'

interface FactorForm {
  readonly action: string
  /** Absent for a user without a passkey. */
  readonly passkey: PasskeyButton | undefined
  /** The script for passkeys; the page works without it. */
  readonly script: string
  /** Why an earlier answer was refused. */
  readonly refusal: Refusal | undefined
}

/** The second step of a sign-in; works without scripts. */
export const factorPage = (context: PageContext, { action, passkey, script, refusal }: FactorForm): string => {
  const { words } = context
  const described = refusal ? html` aria-describedby="refusal"` : []
  return page(
    context,
    words.secondStep,
    html`${refusalNotice(context, refusal)}<form method="post" action="${action}">
<label class="field"><span>${words.factorCode}</span><input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="40" required autofocus${described}></label>
<p class="hint">${words.factorHint}</p>
<button class="button wide">${words.signIn}</button></form>
${passkey === undefined ? [] : passkeyForm(context, passkey, action)}
<p class="aside"><a href="${context.home}">${words.back}</a></p>`,
    html`<script type="module" src="${script}"></script>`,
  )
}

const passkeyForm = (context: PageContext, passkey: PasskeyButton, action: string): Html =>
  html`<form method="post" action="${action}"><input type="hidden" name="passkey">${passkeyButton(context, passkey)}</form>`

function refusalNotice({ words }: PageContext, refusal: Refusal | undefined): Html | [] {
  if (!refusal) return []
  const { code, detail, retryAfter } = refusal
  const text =
    retryAfter === undefined
      ? (wordsForProblem(words, code) ?? detail)
      : fill(words.lockedOut, { time: fill(words.seconds, { count: retryAfter }) })
  return html`<p class="notice bad" role="alert" id="refusal">${text}</p>`
}
