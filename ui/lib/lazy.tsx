import type { ComponentType, FunctionComponent } from 'preact'
import { useState } from 'preact/hooks'
import { Await } from '../components/page.tsx'
import { unreachable } from './api.ts'
import { useLoaded } from './load.ts'

interface Lazy<P> extends FunctionComponent<P> {
  /** Loads the code ahead of its use. A failure is reported when the page is opened. */
  readonly prefetch: () => void
}

/** A page whose code is loaded when it is opened: code that few users need is not part of the first load. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): Lazy<P> {
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
    return Page ? <Page {...props} /> : <Fetched fetchPage={fetchPage} props={props} />
  }
  return Object.assign(Lazy, { prefetch: () => void fetchPage().catch(() => undefined) })
}

interface FetchedProps<P> {
  readonly fetchPage: () => Promise<ComponentType<P>>
  readonly props: P
}

function Fetched<P extends object>({ fetchPage, props }: FetchedProps<P>) {
  const [loaded, again] = useLoaded(fetchPage, [])
  return (
    <Await loaded={loaded} again={again}>
      {Page => <Page {...props} />}
    </Await>
  )
}
