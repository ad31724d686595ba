import { fill, type Html, html, type PageContext, page } from './html.ts'
import { wordsForProblem } from './messages.ts'
import { type PasskeyButton, passkeyButton } from './passkey-button.ts'

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
  readonly cookie: string | undefined
  /** The target of the form that finds the organisation by e-mail address; `undefined` if no domains are configured. */
  readonly discovery: string | undefined
  /** Sign-on by others: their names, as people know them, and where it begins. */
  readonly providers: ReadonlyArray<{ readonly name: string; readonly url: string }>
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
  /** The address to open after the login; already checked. */
  readonly successUrl: string
  readonly userName?: string | undefined
  readonly refusal?: Refusal | undefined
  readonly sessionHasEnded?: boolean
  readonly left?: OpenElsewhere | undefined
  /** The provider where the session of the user has ended as well, as users know it. */
  readonly out?: string | undefined
  /** The script that counts down; the page works without it. */
  readonly script: string
}

/** The form for signing in, and the other methods to sign in; works without scripts. */
export const loginPage = (context: PageContext, form: LoginForm): string => {
  const { words } = context
  const { cookie, discovery, providers, reset, passkey } = form.methods
  const others = providers.length > 0 || discovery !== undefined
  return page(
    context,
    words.signIn,
    html`${notice(context, form)}${cookie === undefined ? [] : passwordForm(context, form, cookie)}${passkey === undefined ? [] : passkeyButton(context, passkey)}${
      cookie !== undefined && others ? html`<p class="or"><span>${words.or}</span></p>` : []
    }${providers.map(
      ({ name, url }) =>
        html`<p><a class="button quiet wide" href="${url}">${fill(words.signInWith, { name })}</a></p>`,
    )}${discovery === undefined ? [] : discoveryForm(context, form.successUrl, discovery)}${
      cookie === undefined && !others ? html`<p class="notice bad">${words.noWayIn}</p>` : []
    }${reset === undefined ? [] : html`<p class="aside"><a href="${reset}">${words.forgot}</a></p>`}`,
    html`<script type="module" src="${form.script}"></script>`,
  )
}

/** Signing in again would ask for nothing, on a computer that others use as well. */
const leftNotice = ({ words }: PageContext, { name, logoutUrl }: OpenElsewhere): Html =>
  html`<p class="notice" role="status">${fill(words.signedOutHere, { name })}${
    logoutUrl === undefined ? [] : html` <a href="${logoutUrl}">${fill(words.signOutAt, { name })}</a>`
  }</p>`

function notice(context: PageContext, { refusal, sessionHasEnded, left, out }: LoginForm): Html | [] {
  const { words } = context
  if (left && !refusal) return leftNotice(context, left)
  if (out !== undefined && !refusal)
    return html`<p class="notice" role="status">${fill(words.signedOutBoth, { name: out })}</p>`
  if (!refusal) return sessionHasEnded ? html`<p class="notice" role="status">${words.sessionEnded}</p>` : []
  const { code, detail, retryAfter } = refusal
  if (retryAfter === undefined)
    return html`<p class="notice bad" role="alert" id="refusal">${wordsForProblem(words, code) ?? detail}</p>`
  const time = html`<time data-seconds="${retryAfter}">${fill(words.seconds, { count: retryAfter })}</time>`
  const text = code === 'locked-out' ? words.lockedOut : words['problem.overloaded']
  return html`<p class="notice bad" role="alert" id="refusal" data-over="${words.lockedOver}">${fill(text, { time })}</p>`
}

function passwordForm(
  { words }: PageContext,
  { successUrl, userName, refusal, methods }: LoginForm,
  action: string,
): Html {
  const described = refusal ? html` aria-describedby="refusal"` : []
  const [nameFocus, passwordFocus] = userName === undefined ? [html` autofocus`, []] : [[], html` autofocus`]
  // Browsers offer passkeys in this field (WebAuthn, conditional mediation).
  const autocomplete = methods.passkey ? 'username webauthn' : 'username'
  return html`<form method="post" action="${action}"><input type="hidden" name="successurl" value="${successUrl}">
<label class="field"><span>${words.userName}</span><input name="auth_username" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" required value="${userName ?? ''}"${described}${nameFocus}></label>
<label class="field"><span>${words.password}</span><input name="auth_password" type="password" autocomplete="current-password" maxlength="2048" required${described}${passwordFocus}></label>
<button class="button wide">${words.signIn}</button></form>`
}

const discoveryForm = ({ words }: PageContext, successUrl: string, action: string): Html =>
  html`<form method="get" action="${action}"><input type="hidden" name="successurl" value="${successUrl}">
<label class="field"><span>${words.askOrganisation}</span><input name="email" type="email" autocomplete="email" required placeholder="${words.email}" aria-describedby="organisation"></label>
<p class="hint" id="organisation">${words.findOrganisationHint}</p>
<button class="button quiet wide">${words.findOrganisation}</button></form>`

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
