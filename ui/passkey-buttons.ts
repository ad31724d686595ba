/** Shows the buttons for passkeys on a page of sign-in. Without this script, and in browsers without passkeys, they are hidden. */
export function offerPasskeys(): void {
  for (const box of document.querySelectorAll<HTMLElement>('[data-passkey]')) offer(box)
}

function offer(box: HTMLElement): void {
  const button = box.querySelector('button')
  if (!button || typeof PublicKeyCredential !== 'function') return
  box.hidden = false
  button.addEventListener('click', () => {
    button.disabled = true
    const notice = box.querySelector<HTMLElement>('[role=alert]')
    if (notice) notice.hidden = true
    void use(box)
      .catch((error: unknown) => show(box, notice, error))
      .finally(() => (button.disabled = false))
  })
}

/** A refusal of the service; `message` is its code. */
class Refused extends Error {}

async function use(box: HTMLElement): Promise<void> {
  const { passkey: options = '', target, success } = box.dataset
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const passkey = await startAuthentication({ optionsJSON: await post(options) })
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
function show(box: HTMLElement, notice: HTMLElement | null, error: unknown): void {
  const texts = JSON.parse(box.dataset['texts'] ?? '{}') as Readonly<Record<string, string>>
  if (!notice) return
  notice.textContent = texts[error instanceof Refused ? error.message : ''] ?? texts[''] ?? ''
  notice.hidden = false
}
