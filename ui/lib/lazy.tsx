import type { ComponentType, FunctionComponent } from 'preact'
import { useState } from 'preact/hooks'
import { Await, FailurePage } from '../components/page.tsx'
import { unreachable } from './api.ts'
import { useLoaded } from './load.ts'

interface Lazy<P> extends FunctionComponent<P> {
  /** Loads the code ahead of its use. A failure is reported when the page is opened. */
  readonly prefetch: () => void
}

interface LazyOptions {
  /** For a part of a page, which has a frame around it. */
  readonly isPart?: boolean
}

/** A page whose code is loaded when it is opened: code that few users need is not part of the first load. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { isPart = false }: LazyOptions = {},
): Lazy<P> {
  let known: ComponentType<P> | undefined
  const fetchPage = async (): Promise<ComponentType<P>> => {
    known ??= await load().catch(() => {
      throw unreachable()
    })
    return known
  }
  function Lazy(props: P) {
    // Decided once per rendering of the page: replacing the element would lose what has been typed.
    const [Page] = useState(() => known)
    return Page ? <Page {...props} /> : <Fetched fetchPage={fetchPage} props={props} isPart={isPart} />
  }
  return Object.assign(Lazy, { prefetch: () => void fetchPage().catch(() => undefined) })
}

interface FetchedProps<P> {
  readonly fetchPage: () => Promise<ComponentType<P>>
  readonly props: P
  readonly isPart: boolean
}

function Fetched<P extends object>({ fetchPage, props, isPart }: FetchedProps<P>) {
  const [loaded, again] = useLoaded(fetchPage, [])
  if (loaded.state === 'ready') return <loaded.value {...props} />
  const state = (
    <Await loaded={loaded} again={again}>
      {() => null}
    </Await>
  )
  if (isPart) return state
  if (loaded.state === 'failed') return <FailurePage error={loaded.error} again={again} />
  return (
    <main class="page" id="main" tabIndex={-1}>
      {state}
    </main>
  )
}
