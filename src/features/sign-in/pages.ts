import { fill, type Html, html, type PageContext, page, scripted, showPassword } from '../../http/pages/html.ts'
import { wordsForProblem } from '../../http/pages/messages.ts'
import { type NewPasswordForm, passwordForm as newPasswordForm, rulesNotice } from '../../http/pages/password-pages.ts'

/** The reason why the user must sign in, or sign in again. */
export interface Refusal {
  readonly code: string
  /** In English, for codes that the catalogues do not know. */
  readonly detail: string
  /** Whole seconds until trying again makes sense. */
  readonly retryAfter: number | undefined
}

export interface SignInMethods {
  /** The target of the password form; `undefined` when passwords are not accepted. */
  readonly password: string | undefined
  /** The target of the form that finds the organisation by e-mail address; `undefined` if no domains are configured. */
  readonly discovery: string | undefined
  /** Sign-on by others: their names, as people know them, and where it begins. */
  readonly providers: ReadonlyArray<{ readonly name: string; readonly url: string }>
  /** The address of the page for a forgotten password; `undefined` when no mails can be sent, or passwords are not accepted. */
  readonly reset: string | undefined
  /** Absent where a passkey alone signs no user in. */
  readonly passkey: PasskeyButton | undefined
}

/** A provider where the session of a user who has signed out here may still be open. */
export interface OpenElsewhere {
  readonly name: string
  readonly logoutUrl: string | undefined
}

export interface LoginForm {
  readonly methods: SignInMethods
  /** The address to open after the sign-in; already checked. */
  readonly successUrl: string
  readonly userName?: string | undefined
  readonly refusal?: Refusal | undefined
  readonly sessionHasEnded?: boolean
  readonly openElsewhere?: OpenElsewhere | undefined
  /** The name, as users know it, of the provider where the session of the user has ended as well. */
  readonly endedElsewhere?: string | undefined
}

/** The form for signing in, and the other methods to sign in; works without scripts. */
export const loginPage = (context: PageContext, form: LoginForm): string => {
  const { words } = context
  const { password, discovery, providers, reset, passkey } = form.methods
  const others = providers.length > 0 || discovery !== undefined
  return page(
    context,
    words.signIn,
    html`${notice(context, form)}${password === undefined ? [] : passwordForm(context, form, password)}${passkey === undefined ? [] : passkeyButton(context, passkey)}${
      password !== undefined && others ? html`<p class="or"><span>${words.or}</span></p>` : []
    }${providers.map(
      ({ name, url }) =>
        html`<p><a class="button quiet wide" href="${url}">${fill(words.signInWith, { name })}</a></p>`,
    )}${discovery === undefined ? [] : discoveryForm(context, form.successUrl, discovery)}${
      password === undefined && !others ? html`<p class="notice bad">${words.noWayIn}</p>` : []
    }${reset === undefined ? [] : html`<p class="aside"><a href="${reset}">${words.forgot}</a></p>`}`,
    scripted(context),
  )
}

/** Warns that anyone at this computer could sign in again: the provider would ask for no password. */
const openElsewhereNotice = ({ words }: PageContext, { name, logoutUrl }: OpenElsewhere): Html =>
  html`<p class="notice" role="status">${fill(words.signedOutHere, { name })}${
    logoutUrl === undefined ? [] : html` <a href="${logoutUrl}">${fill(words.signOutAt, { name })}</a>`
  }</p>`

function notice(
  context: PageContext,
  { refusal, sessionHasEnded, openElsewhere, endedElsewhere }: LoginForm,
): Html | [] {
  const { words } = context
  if (openElsewhere && !refusal) return openElsewhereNotice(context, openElsewhere)
  if (endedElsewhere !== undefined && !refusal)
    return html`<p class="notice" role="status">${fill(words.signedOutBoth, { name: endedElsewhere })}</p>`
  if (!refusal) return sessionHasEnded ? html`<p class="notice" role="status">${words.sessionEnded}</p>` : []
  const { code, detail, retryAfter } = refusal
  if (retryAfter === undefined)
    return html`<p class="notice bad" role="alert" id="refusal">${wordsForProblem(words, code) ?? detail}</p>`
  const time = html`<time data-seconds="${retryAfter}">${fill(words.seconds, { count: retryAfter })}</time>`
  const text = code === 'locked-out' ? words.lockedOut : words['problem.overloaded']
  return html`<p class="notice bad" role="alert" id="refusal" data-over="${words.lockedOver}">${fill(text, { time })}</p>`
}

function passwordForm(
  context: PageContext,
  { successUrl, userName, refusal, methods }: LoginForm,
  action: string,
): Html {
  const { words } = context
  const described = refusal ? html` aria-describedby="refusal"` : []
  const [nameFocus, passwordFocus] = userName === undefined ? [html` autofocus`, []] : [[], html` autofocus`]
  // Browsers offer passkeys in this field (WebAuthn, conditional mediation).
  const autocomplete = methods.passkey ? 'username webauthn' : 'username'
  return html`<form method="post" action="${action}"><input type="hidden" name="successurl" value="${successUrl}">
<label class="field"><span>${words.userName}</span><input name="auth_username" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" required value="${userName ?? ''}"${described}${nameFocus}></label>
<label class="field"><span>${words.password}</span><input name="auth_password" type="password" autocomplete="current-password" maxlength="2048" required${described}${passwordFocus}></label>
${showPassword(context)}
<button class="button wide">${words.signIn}</button></form>`
}

const discoveryForm = ({ words }: PageContext, successUrl: string, action: string): Html =>
  html`<form method="get" action="${action}"><input type="hidden" name="successurl" value="${successUrl}">
<label class="field"><span>${words.askOrganisation}</span><input name="email" type="email" autocomplete="email" required placeholder="${words.email}" aria-describedby="organisation"></label>
<p class="hint" id="organisation">${words.findOrganisationHint}</p>
<button class="button quiet wide">${words.findOrganisation}</button></form>`

/** Where a button for passkeys gets its options, and what becomes of the response. */
interface PasskeyButton {
  /** The address of the options for `navigator.credentials.get()`. */
  readonly options: string
  /** The address that the response is sent to, if the passkey alone signs in; else a form of the page takes it. */
  readonly signIn?: { readonly target: string; readonly successUrl: string }
}

/** Hidden until the script of the page finds that the browser has passkeys (`ui/passkey-buttons.ts`). */
function passkeyButton({ words }: PageContext, { options, signIn }: PasskeyButton): Html {
  const texts = JSON.stringify({
    '': words.passkeyUnused,
    'passkey-refused': words['problem.passkey-refused'],
    'passkey-login-off': words['problem.passkey-login-off'],
    'account-disabled': words['problem.account-disabled'],
    'locked-out': words.passkeyLocked,
  })
  const alone = signIn && html` data-target="${signIn.target}" data-success="${signIn.successUrl}"`
  return html`<div class="stack" hidden data-passkey="${options}" data-texts="${texts}"${alone ?? []}><p class="notice bad" role="alert" hidden></p>
<button type="button" class="button quiet wide">${signIn ? words.passkeySignIn : words.passkeyUse}</button></div>`
}

interface FactorForm {
  readonly action: string
  /** Absent for a user without a passkey. */
  readonly passkey: PasskeyButton | undefined
  /** Why an earlier response was refused. */
  readonly refusal: Refusal | undefined
}

/** The second step of a sign-in; works without scripts. */
export const factorPage = (context: PageContext, { action, passkey, refusal }: FactorForm): string => {
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
    scripted(context),
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
${newPasswordForm(context, form, html`<input type="text" value="${userName}" autocomplete="username" readonly hidden>`)}
<p class="aside"><a href="${home}">${words.back}</a></p>`,
    scripted(context),
  )
}
