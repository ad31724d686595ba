import type { ComponentType } from 'preact'
import { lazy } from './lib/lazy.tsx'
import type { MessageKey } from './messages/en.ts'
import { Files } from './pages/files/lazy.ts'
import { MyFiles } from './pages/home.tsx'

interface Route {
  /** Pattern under `ui/`; a segment that begins with a colon is passed to the page under that name. */
  readonly pattern: string
  readonly page: ComponentType<{ readonly parts: Readonly<Record<string, string>> }>
}

/** All pages; the first matching pattern wins. */
export const routes: readonly Route[] = [
  { pattern: '', page: MyFiles },
  {
    pattern: 'shared',
    page: lazy(async () => (await import('./pages/sharing/shared-with-me.tsx')).SharedWithMe),
  },
  { pattern: 'shared-by-me', page: lazy(async () => (await import('./pages/sharing/shared-by-me.tsx')).SharedByMe) },
  { pattern: 'search', page: lazy(async () => (await import('./pages/files/found.tsx')).Found) },
  { pattern: 'account', page: lazy(async () => (await import('./pages/account.tsx')).Account) },
  { pattern: 'contexts/:context/files', page: Files },
  { pattern: 'contexts/:context/files/:folder', page: Files },
  { pattern: 'contexts/:context/trash', page: lazy(async () => (await import('./pages/files/trash.tsx')).Trash) },
  {
    pattern: 'contexts/:context/sharing',
    page: lazy(async () => (await import('./pages/sharing/sharing.tsx')).Sharing),
  },
  { pattern: 'admin', page: lazy(async () => (await import('./pages/admin/system.tsx')).AdminSystem) },
  { pattern: 'admin/users', page: lazy(async () => (await import('./pages/admin/users.tsx')).AdminUsers) },
  { pattern: 'admin/users/:user', page: lazy(async () => (await import('./pages/admin/user.tsx')).AdminUser) },
  { pattern: 'admin/groups', page: lazy(async () => (await import('./pages/admin/groups.tsx')).AdminGroups) },
  { pattern: 'admin/groups/:group', page: lazy(async () => (await import('./pages/admin/group.tsx')).AdminGroup) },
  { pattern: 'admin/contexts', page: lazy(async () => (await import('./pages/admin/contexts.tsx')).AdminContexts) },
  {
    pattern: 'admin/contexts/:context',
    page: lazy(async () => (await import('./pages/admin/context.tsx')).AdminContext),
  },
  { pattern: 'admin/quotas', page: lazy(async () => (await import('./pages/admin/quotas.tsx')).AdminQuotas) },
  {
    pattern: 'admin/quotas/:group',
    page: lazy(async () => (await import('./pages/admin/quota-group.tsx')).AdminQuotaGroup),
  },
  { pattern: 'admin/links', page: lazy(async () => (await import('./pages/admin/links.tsx')).AdminLinks) },
  { pattern: 'admin/sessions', page: lazy(async () => (await import('./pages/admin/sessions.tsx')).AdminSessions) },
  { pattern: 'admin/lockouts', page: lazy(async () => (await import('./pages/admin/lockouts.tsx')).AdminLockouts) },
  { pattern: 'admin/audit', page: lazy(async () => (await import('./pages/admin/audit.tsx')).AdminAudit) },
  { pattern: 'admin/sso', page: lazy(async () => (await import('./pages/admin/sso.tsx')).AdminSso) },
  { pattern: 'admin/settings', page: lazy(async () => (await import('./pages/admin/settings.tsx')).AdminSettings) },
  { pattern: 'admin/backups', page: lazy(async () => (await import('./pages/admin/backups.tsx')).AdminBackups) },
  { pattern: 'admin/checks', page: lazy(async () => (await import('./pages/admin/findings.tsx')).AdminFindings) },
]

interface Section {
  readonly title: MessageKey
  readonly to: string
  /** Whether a path belongs to this section. */
  readonly holds: (path: string) => boolean
  readonly forAdmins?: true
}

/** The links of the navigation bar. */
export const sections: readonly Section[] = [
  { title: 'filesOf', to: '', holds: path => /^(?:$|shared|search|contexts\/)/.test(path) },
  { title: 'account', to: 'account', holds: path => path === 'account' },
  { title: 'administration', to: 'admin', holds: path => path.startsWith('admin'), forAdmins: true },
]
