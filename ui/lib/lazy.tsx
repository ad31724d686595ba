import type { ComponentType, FunctionComponent } from 'preact'
import { useState } from 'preact/hooks'
import { Await, FailurePage } from '../components/page.tsx'
import { unreachable } from './api.ts'
import { useLoaded } from './load.ts'

interface Lazy<P> extends FunctionComponent<P> {
  /** Loads the code ahead of its use. A failure is reported when the page is opened. */
  readonly prefetch: () => void
}

/** A page; a part of a page, which has a frame around it; or a dialog over the page, where nothing moves while it loads. */
type Kind = 'page' | 'part' | 'dialog'

/** A page whose code is loaded when it is opened: code that few users need is not part of the first load. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>, kind: Kind = 'page'): Lazy<P> {
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
    return Page ? <Page {...props} /> : <Fetched fetchPage={fetchPage} props={props} kind={kind} />
  }
  return Object.assign(Lazy, { prefetch: () => void fetchPage().catch(() => undefined) })
}

interface FetchedProps<P> {
  readonly fetchPage: () => Promise<ComponentType<P>>
  readonly props: P
  readonly kind: Kind
}

function Fetched<P extends object>({ fetchPage, props, kind }: FetchedProps<P>) {
  const [loaded, again] = useLoaded(fetchPage, [])
  if (loaded.state === 'ready') return <loaded.value {...props} />
  const state = (
    <Await loaded={loaded} again={again}>
      {() => null}
    </Await>
  )
  if (kind === 'part') return state
  if (kind === 'dialog') return <div class="over-page">{state}</div>
  if (loaded.state === 'failed') return <FailurePage error={loaded.error} again={again} />
  return (
    <main class="page" id="main" tabIndex={-1}>
      {state}
    </main>
  )
}
