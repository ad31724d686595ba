import { render } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { Frame } from './components/frame.tsx'
import { Await, FailurePage } from './components/page.tsx'
import { basePath, uiPath } from './lib/base.ts'
import { keepFocus } from './lib/focus.ts'
import { chooseLanguage } from './lib/language.ts'
import { lazy } from './lib/lazy.tsx'
import { useLoaded } from './lib/load.ts'
import { currentPath, match, usePath } from './lib/router.tsx'
import { checkSession, loadMe, type Me, SessionContext } from './lib/session.ts'
import { FactorFirst } from './pages/factor-first.tsx'
import { NotFound } from './pages/not-found.tsx'
import { routes } from './routes.tsx'

/** Visitors of public links need no session: they are not asked to sign in. */
const Visitor = lazy(async () => (await import('./pages/visitor/visitor.tsx')).Visitor)

function App() {
  return match('link', currentPath()) ? <Visitor /> : <ForUsers />
}

function ForUsers() {
  const [loaded, again] = useLoaded(loadMe, [])
  if (loaded.state === 'failed') return <FailurePage error={loaded.error} again={again} />
  return (
    <Await loaded={loaded} again={again}>
      {me => <SignedIn first={me} />}
    </Await>
  )
}

function SignedIn({ first }: { readonly first: Me }) {
  const path = usePath()
  const [me, setMe] = useState(first)
  const reload = useCallback(async () => setMe(await loadMe()), [])
  useEffect(() => {
    const look = (): void => {
      // Other errors are reported by the next request.
      if (document.visibilityState === 'visible') checkSession(me).catch(() => undefined)
    }
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [me])
  return (
    <SessionContext.Provider value={{ me, reload }}>
      <Frame path={path}>{me.lacksFactor ? <FactorFirst /> : <PageAt path={path} />}</Frame>
    </SessionContext.Provider>
  )
}

function PageAt({ path }: { readonly path: string }) {
  for (const { pattern, page: Found } of routes) {
    const parts = match(pattern, path)
    // The path is the key, so that another page starts with a new state.
    if (parts) return <Found key={path} parts={parts} />
  }
  return <NotFound key={path} />
}

// The same pages are served at other addresses too, which the cookie may not cover.
if (!location.pathname.startsWith(uiPath)) location.replace(uiPath)
const root = document.querySelector('#app')
if (root && location.pathname.startsWith(basePath)) {
  keepFocus()
  void chooseLanguage(navigator.languages).then(() => render(<App />, root))
}
