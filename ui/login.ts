import { offerPasskeys } from './passkey-buttons.ts'

// The pages of the sign-in work without this script.

const remaining = document.querySelector<HTMLElement>('time[data-seconds]')
const notice = remaining?.closest<HTMLElement>('[data-over]')

offerPasskeys()
offerToShow()

// Counts down while the user is locked out.
if (remaining && notice) {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('form[method=post] button')]
  const end = performance.now() + Number(remaining.dataset['seconds']) * 1000
  const language = document.documentElement.lang
  // Screen readers announce it when the page opens and at the end, not every second.
  remaining.setAttribute('aria-live', 'off')
  const show = (): void => {
    const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000))
    for (const button of buttons) button.disabled = seconds > 0
    if (seconds > 0) {
      remaining.textContent = clock(seconds, language)
      return
    }
    clearInterval(timer)
    notice.textContent = notice.dataset['over'] ?? ''
    notice.classList.replace('bad', 'good')
    document.querySelector<HTMLInputElement>('[name=auth_password]')?.focus()
  }
  const timer = setInterval(show, 250)
  show()
}

function clock(seconds: number, language: string): string {
  const two = new Intl.NumberFormat(language, { minimumIntegerDigits: 2 })
  return `${Math.floor(seconds / 60)}:${two.format(seconds % 60)}`
}

/** A box that shows what is typed as the password. It is hidden again when the form is sent: browsers offer texts in other forms. */
function offerToShow(): void {
  const label = document.querySelector<HTMLElement>('[data-show-password]')
  const field = document.querySelector<HTMLInputElement>('input[type=password]')
  if (!label || !field) return
  label.hidden = false
  const show = (isShown: boolean): void => {
    field.type = isShown ? 'text' : 'password'
  }
  label.addEventListener('input', ({ target }) => show(target instanceof HTMLInputElement && target.checked))
  field.form?.addEventListener('submit', () => show(false))
}
