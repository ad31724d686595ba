import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly error?: string | undefined
  readonly hint?: ComponentChildren
  readonly type?: 'text' | 'password' | 'email' | 'search' | 'date' | 'datetime-local'
  readonly name?: string
  readonly autocomplete?: 'current-password' | 'new-password' | 'one-time-code' | 'username' | 'name' | 'email' | 'off'
  readonly required?: boolean
  readonly maxLength?: number
  /** The first day that can be chosen. */
  readonly min?: string
  readonly placeholder?: string
  /** Language of the text, for spelling and screen readers. */
  readonly lang?: string | undefined
  /** Whether a dialog selects what is before the extension of a file name. */
  readonly isPreselected?: boolean
  /** Values offered while typing, with what they mean. */
  readonly suggestions?: ReadonlyArray<readonly [value: string, label: string]> | undefined
}

/** A labelled input with its hint and its error, which are connected to it for screen readers. */
export function Field(props: FieldProps) {
  const { label, value, onValue, error, hint, type = 'text', suggestions, isPreselected, ...input } = props
  const id = useId()
  // The types of Preact distinguish kinds of inputs; the attributes passed on here are valid for all of them.
  const list = suggestions && { list: `${id}-suggestions` }
  const attributes = { ...input, ...list, type } as InputHTMLAttributes
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].join(' ').trim()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...attributes}
        {...(isPreselected === true ? { 'data-preselect': '' } : {})}
        id={id}
        value={value}
        aria-invalid={error !== undefined}
        aria-describedby={described === '' ? undefined : described}
        onInput={event => onValue(event.currentTarget.value)}
      />
      {suggestions && (
        <datalist id={`${id}-suggestions`}>
          {suggestions.map(([value, label]) => (
            <option key={value} value={value} label={label === '' ? undefined : label} />
          ))}
        </datalist>
      )}
      {hint !== undefined && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      <FieldError id={id} error={error} />
    </div>
  )
}

const FieldError = ({ id, error }: { readonly id: string; readonly error: string | undefined }) =>
  error === undefined ? null : (
    <p class="error" id={`${id}-error`} role="alert">
      {error}
    </p>
  )

interface AreaProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly error?: string | undefined
  readonly required?: boolean
  readonly maxLength?: number
  readonly lang?: string | undefined
  readonly rows?: number
}

/** A multi-line text field. */
export function Area({ label, value, onValue, error, required = false, maxLength, lang, rows = 4 }: AreaProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        required={required}
        maxLength={maxLength}
        lang={lang}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        onInput={event => onValue(event.currentTarget.value)}
      />
      <FieldError id={id} error={error} />
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: ReadonlyArray<readonly [value: string, text: string]>
  readonly onValue: (value: string) => void
}

/** Sends the form with Enter, as in other fields; while the options are shown, Enter chooses one of them. */
function sendByEnter(event: KeyboardEvent & { readonly currentTarget: HTMLSelectElement }): void {
  const { key, currentTarget: select } = event
  if (key !== 'Enter' || !select.form || !CSS.supports('selector(:open)') || select.matches(':open')) return
  event.preventDefault()
  select.form.requestSubmit()
}

/** A choice between a few options. */
export function Choice({ label, value, options, onValue }: ChoiceProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onInput={event => onValue(event.currentTarget.value)} onKeyDown={sendByEnter}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface CheckProps {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

/** A box to tick. */
export const Check = ({ label, isOn, onChange }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={isOn} onInput={event => onChange(event.currentTarget.checked)} />
    {label}
  </label>
)
