import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import type { Loaded } from '../lib/load.ts'
import { Button } from './button.tsx'

interface PageProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly children: ComponentChildren
}

let isFirst = true

/** A page. Its title becomes the title of the window, and gets the focus when the user comes from another page. */
export function Page({ title, lead, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    document.title = `${title} – Stowage`
  }, [title])
  useLayoutEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <main class="page" id="main" tabIndex={-1}>
      <header>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead !== undefined && <div class="lead">{lead}</div>}
      </header>
      {children}
    </main>
  )
}

interface CardProps {
  readonly title: string
  /** Buttons beside the title. */
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of a page with its own heading. */
export function Card({ title, aside, children }: CardProps) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

interface AwaitProps<T> {
  readonly loaded: Loaded<T>
  readonly again: () => void
  readonly children: (value: T) => ComponentChildren
}

/** Shows the loaded data, before that a progress indicator, or the error. */
export function Await<T>({ loaded, again, children }: AwaitProps<T>) {
  if (loaded.state === 'ready') return <>{children(loaded.value)}</>
  if (loaded.state === 'loading') {
    return (
      <div role="status">
        <div class="spinner" />
        <span class="hidden">{t('loading')}</span>
      </div>
    )
  }
  return <ProblemNotice error={loaded.error} again={again} />
}

/** Shows why loading failed, with a button to try again. */
export function ProblemNotice({ error, again }: { readonly error: unknown; readonly again: () => void }) {
  return (
    <div class="notice bad stack" role="alert">
      <p>{tellProblem(error)}</p>
      <div class="buttons">
        <Button kind="quiet" size="small" onPress={again}>
          {t('tryAgain')}
        </Button>
      </div>
    </div>
  )
}
