import { type Html, html, type PageContext } from './html.ts'

/** Where a button for passkeys gets its options, and what becomes of the response. */
export interface PasskeyButton {
  /** The address of the options for `navigator.credentials.get()`. */
  readonly options: string
  /** The address that the response is sent to, if the passkey alone signs in; else a form of the page takes it. */
  readonly signIn?: { readonly target: string; readonly successUrl: string }
}

/** Hidden until the script of the page finds that the browser has passkeys (`ui/passkey-buttons.ts`). */
export function passkeyButton({ words }: PageContext, { options, signIn }: PasskeyButton): Html {
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
