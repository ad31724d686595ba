import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'

/**
 * Shows the buttons for passkeys on a page of sign-in, and lets the browser offer passkeys in the field for the user name. Without
 * this script, and in browsers without passkeys, the buttons are hidden.
 */
export function offerPasskeys(): void {
  for (const box of document.querySelectorAll<HTMLElement>('[data-passkey]')) offer(box)
}

/** A challenge is valid for five minutes. */
const RENEWAL = 240_000

const library = () => import('@simplewebauthn/browser')

function offer(box: HTMLElement): void {
  const button = box.querySelector('button')
  if (!button || typeof PublicKeyCredential !== 'function') return
  box.hidden = false
  button.addEventListener('click', () => {
    button.disabled = true
    const notice = box.querySelector<HTMLElement>('[role=alert]')
    if (notice) notice.hidden = true
    void use(box).catch((error: unknown) => {
      button.disabled = false
      show(box, error)
      offerInField(box, button)
    })
  })
  offerInField(box, button)
}

/** A refusal of the service; `message` is its code. */
class Refused extends Error {}

async function use(box: HTMLElement): Promise<void> {
  const { startAuthentication } = await library()
  await send(box, await startAuthentication({ optionsJSON: await requestOptions(box) }))
}

/** Where the passkey alone signs in. The user need not choose one: what comes of that is not reported. */
function offerInField(box: HTMLElement, button: HTMLButtonElement): void {
  if (box.dataset['target'] === undefined) return
  void useFromField(box, button).catch((error: unknown) => {
    if (error instanceof Refused) show(box, error)
  })
}

async function useFromField(box: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const { browserSupportsWebAuthnAutofill, startAuthentication } = await library()
  if (!(await browserSupportsWebAuthnAutofill())) return
  const optionsJSON = await requestOptions(box)
  // A browser has one request at a time: this one would end that of the button.
  if (button.disabled) return
  const renew = (): void => {
    if (document.hidden) document.addEventListener('visibilitychange', renew, { once: true })
    else offerInField(box, button)
  }
  const timer = setTimeout(renew, RENEWAL)
  try {
    await send(box, await startAuthentication({ optionsJSON, useBrowserAutofill: true }))
  } finally {
    clearTimeout(timer)
  }
}

const requestOptions = (box: HTMLElement): Promise<PublicKeyCredentialRequestOptionsJSON> =>
  post(box.dataset['passkey'] ?? '')

/** Signs in, or fills the form of the second step. */
async function send(box: HTMLElement, passkey: unknown): Promise<void> {
  const { target, success } = box.dataset
  if (target !== undefined) {
    await post(target, { passkey })
    location.assign(success ?? '.')
    return
  }
  const form = box.closest('form')
  const field = form?.querySelector<HTMLInputElement>('input[name=passkey]')
  if (!form || !field) return
  field.value = JSON.stringify(passkey)
  form.submit()
}

async function post<T>(url: string, json?: unknown): Promise<T> {
  const body = json === undefined ? {} : { body: JSON.stringify(json) }
  const headers = { accept: 'application/json', ...(json === undefined ? {} : { 'content-type': 'application/json' }) }
  const response = await fetch(url, { method: 'POST', headers, ...body })
  const value = (await response.json()) as T & { readonly code?: string }
  if (!response.ok) throw new Refused(value.code)
  return value
}

/** Also when the user has closed the dialog of the browser, or the service cannot be reached. */
function show(box: HTMLElement, error: unknown): void {
  const notice = box.querySelector<HTMLElement>('[role=alert]')
  const texts = JSON.parse(box.dataset['texts'] ?? '{}') as Readonly<Record<string, string>>
  if (!notice) return
  notice.textContent = texts[error instanceof Refused ? error.message : ''] ?? texts[''] ?? ''
  notice.hidden = false
}
