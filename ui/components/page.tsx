import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Problem } from '../lib/api.ts'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import type { Loaded } from '../lib/load.ts'
import { Link } from '../lib/router.tsx'
import type { MessageKey } from '../messages/en.ts'
import { Button } from './button.tsx'

interface PageProps {
  readonly title: string
  /** A link to the page above this one. */
  readonly above?: ComponentChildren
  readonly lead?: ComponentChildren
  /** Draws a page that has its heading in another place, instead of `children`. */
  readonly content?: (heading: ComponentChildren) => ComponentChildren
  readonly class?: string
  readonly children?: ComponentChildren
}

let isFirst = true

/** A page. Its title becomes the title of the window, and gets the focus when the user comes from another page. */
export function Page({ title, above, lead, content, class: names = '', children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    document.title = `${title} – Stowage`
  }, [title])
  useLayoutEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  const h1 = (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  )
  return (
    <main class={`page ${names}`.trim()} id="main" tabIndex={-1}>
      {content ? (
        content(h1)
      ) : (
        <>
          <header>
            {above !== undefined && <div class="above small">{above}</div>}
            {h1}
            {lead !== undefined && <div class="lead">{lead}</div>}
          </header>
          {children}
        </>
      )}
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

interface FailureProps {
  readonly error: unknown
  readonly again: () => void
}

/** Shows why a part of a page could not be loaded, and one next step. */
export function ProblemNotice({ error, again }: FailureProps) {
  return (
    <div class="notice bad stack" role="alert">
      <p>{tellProblem(error)}</p>
      <NextStep error={error} again={again} />
    </div>
  )
}

/** The page for everything that cannot be shown: what happened, why, and one next step. */
export function FailurePage({ error, again }: FailureProps) {
  return (
    <Page title={t(failureTitle(error))}>
      <div class="failure stack" role="alert">
        <p>{tellProblem(error)}</p>
        <NextStep error={error} again={again} />
      </div>
    </Page>
  )
}

const statusOf = (error: unknown): number | undefined => (error instanceof Problem ? error.status : undefined)

const titles: Readonly<Record<number, MessageKey>> = {
  0: 'failureOffline',
  403: 'failureForbidden',
  404: 'failureMissing',
}

/** The title of a page that could not be loaded. */
export const failureTitle = (error: unknown): MessageKey => titles[statusOf(error) ?? -1] ?? 'failureOther'

/** Another attempt, where it can change something; otherwise the way back. */
function NextStep({ error, again }: FailureProps) {
  const isFinal = [403, 404].includes(statusOf(error) ?? -1)
  return (
    <div class="buttons">
      {isFinal ? (
        <Link class="button quiet" to="">
          {t('toMyFiles')}
        </Link>
      ) : (
        <Button kind="quiet" onPress={again}>
          {t('tryAgain')}
        </Button>
      )}
    </div>
  )
}
