import type { ComponentChildren } from 'preact'
import { Page } from '../../components/page.tsx'
import { t } from '../../lib/language.ts'
import { currentPath, Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import type { MessageKey } from '../../messages/en.ts'

const parts = [
  ['admin', 'adminSystem'],
  ['admin/users', 'adminUsers'],
  ['admin/groups', 'adminGroups'],
  ['admin/contexts', 'adminContexts'],
  ['admin/links', 'publicLinks'],
  ['admin/sessions', 'adminSessions'],
  ['admin/lockouts', 'adminLockouts'],
  ['admin/audit', 'adminAudit'],
  ['admin/sso', 'adminSso'],
  ['admin/settings', 'adminSettings'],
  ['admin/checks', 'adminFindings'],
] as const satisfies ReadonlyArray<readonly [string, MessageKey]>

interface AdminPageProps {
  readonly title: string
  readonly children: ComponentChildren
}

/** Content for administrators; other users get an explanation. The service checks every request in any case. */
export function ForAdmins({ title, children }: AdminPageProps) {
  const { me } = useSession()
  if (me.isAdmin) return <>{children}</>
  return (
    <Page title={title} lead={<Link to="">← {t('toMyFiles')}</Link>}>
      <p class="notice bad" role="alert">
        {t('adminOnly')}
      </p>
    </Page>
  )
}

/** An administration page with links to the others. */
export function AdminPage({ title, children }: AdminPageProps) {
  const path = currentPath()
  const current = (to: string): 'page' | 'true' | undefined => {
    if (path === to) return 'page'
    return to !== 'admin' && path.startsWith(`${to}/`) ? 'true' : undefined
  }
  return (
    <ForAdmins title={title}>
      <Page title={title}>
        <nav class="tabs" aria-label={t('administration')}>
          <ul>
            {parts.map(([to, name]) => (
              <li key={to}>
                <Link to={to} current={current(to)}>
                  {t(name)}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        {children}
      </Page>
    </ForAdmins>
  )
}
