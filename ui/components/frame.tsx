import type { ComponentChildren } from 'preact'
import { address } from '../lib/base.ts'
import { forgetPicked } from '../lib/picked-files.ts'
import { t } from '../lib/language.ts'
import { Link } from '../lib/router.tsx'
import { useSession } from '../lib/session.ts'
import { sections } from '../routes.tsx'
import { useFooter } from '../lib/footer.ts'
import { HeaderSearch } from './header-search.tsx'
import { Name } from './name.tsx'
import { SessionGuard } from './session-guard.tsx'
import { StepUp } from './step-up.tsx'
import { Toasts } from './toast.tsx'

/** The frame of every page: navigation, the user, sign-out. */
export function Frame({ path, children }: { readonly path: string; readonly children: ComponentChildren }) {
  const { me } = useSession()
  const Footer = useFooter()
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href
  const open = me.lacksFactor ? [] : sections.filter(({ forAdmins }) => forAdmins !== true || me.isAdmin)
  const skip = (event: Event): void => {
    event.preventDefault()
    document.querySelector<HTMLElement>('#main')?.focus()
  }
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        {t('skip')}
      </a>
      <div class="upper">
        <header class="top">
          <div>
            <Link class="brand" to="">
              <img src={icon} alt="" width={28} height={28} />
              Stowage
            </Link>
            <nav aria-label={t('navigation')}>
              <ul>
                {open.map(({ title, to, holds }) => (
                  <li key={to}>
                    <Link to={to} current={path === to ? 'page' : holds(path) ? 'true' : undefined}>
                      {t(title)}
                    </Link>
                  </li>
                ))}
              </ul>
            </nav>
            {!me.lacksFactor && <HeaderSearch />}
            <div class="who">
              <Name>{me.name}</Name>
              <form method="post" action={address('auth/logout')} onSubmit={forgetPicked}>
                <button type="submit" class="button quiet small">
                  {t('signOut')}
                </button>
              </form>
            </div>
          </div>
        </header>
      </div>
      {children}
      <Toasts />
      {Footer && <Footer />}
      <SessionGuard me={me} />
      <StepUp />
    </>
  )
}
