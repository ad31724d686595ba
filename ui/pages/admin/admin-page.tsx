import type { ComponentChildren } from 'preact'
import { Page } from '../../components/page.tsx'
import { t } from '../../lib/language.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { AdminNav } from './admin-nav.tsx'

interface ForAdminsProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** Content for administrators; other users get an explanation. The service checks every request in any case. */
export function ForAdmins({ title, children }: ForAdminsProps) {
  const { me } = useSession()
  if (me.isAdmin) return <>{children}</>
  return (
    <Page title={title}>
      <p class="notice bad" role="alert">
        {t('adminOnly')}
      </p>
      <div class="buttons">
        <Link class="button" to="">
          {t('toMyFiles')}
        </Link>
      </div>
    </Page>
  )
}

interface AdminPageProps extends ForAdminsProps {
  /** The list that the shown thing is in. */
  readonly within?: { readonly to: string; readonly name: string }
  readonly lead?: ComponentChildren
}

/** An administration page with links to the others. */
export function AdminPage({ title, within, lead, children }: AdminPageProps) {
  return (
    <ForAdmins title={title}>
      <div class="with-side">
        <AdminNav />
        <Page
          title={title}
          above={
            within && (
              <Link to={within.to}>
                <span aria-hidden="true">← </span>
                {within.name}
              </Link>
            )
          }
          lead={lead}
        >
          {children}
        </Page>
      </div>
    </ForAdmins>
  )
}
