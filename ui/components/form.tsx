import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { tellProblem } from '../lib/format.ts'
import { focusFirstField } from './dialog.tsx'
import { Sending } from './sending.ts'

/** A dialog that asks for something; one that shows something keeps the focus where it is. */
const ASKING = 'dialog:not(.panel)'
const FIELD_OF_DIALOG = 'dialog :is(input, select, textarea)'

interface FormProps {
  /**
   * Called when the form is sent. Its error is shown until the user types again, so its fields take `input` events: at `change`
   * they may have been drawn again with the old value. Not called again while it runs.
   */
  readonly work: () => Promise<unknown>
  readonly children: (problem: unknown) => ComponentChildren
}

export function Form({ work, children }: FormProps) {
  const [problem, setProblem] = useState<unknown>()
  const [isSending, setSending] = useState(false)
  const isBusy = useRef(false)
  const form = useRef<HTMLFormElement>(null)
  // The fields of a dialog may be rendered after it has opened.
  useLayoutEffect(() => {
    const dialog = form.current?.closest(ASKING)
    if (dialog && document.activeElement?.matches(FIELD_OF_DIALOG) !== true) focusFirstField(dialog)
  }, [])
  // The focus makes screen readers say the error of the field.
  useLayoutEffect(() => {
    if (problem !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problem])
  const submit = async (): Promise<void> => {
    if (isBusy.current) return
    isBusy.current = true
    setSending(true)
    setProblem(undefined)
    try {
      await work()
    } catch (error) {
      setProblem(error)
    } finally {
      isBusy.current = false
      setSending(false)
    }
  }
  return (
    <form
      ref={form}
      class="stack"
      onInput={() => setProblem(undefined)}
      onSubmit={event => {
        event.preventDefault()
        void submit()
      }}
    >
      <Sending.Provider value={isSending}>{children(problem)}</Sending.Provider>
    </form>
  )
}

/** Why a form was refused, if the error does not belong to a field. */
export function FormError({ problem }: { readonly problem: unknown }) {
  if (problem === undefined) return null
  return (
    <p class="error" role="alert">
      {tellProblem(problem)}
    </p>
  )
}
