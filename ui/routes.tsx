import type { ComponentType } from 'preact'
import type { MessageKey } from './messages/en.ts'
import { Account } from './pages/account.tsx'
import { AdminAudit } from './pages/admin/audit.tsx'
import { AdminContext } from './pages/admin/context.tsx'
import { AdminContexts } from './pages/admin/contexts.tsx'
import { AdminGroup } from './pages/admin/group.tsx'
import { AdminGroups } from './pages/admin/groups.tsx'
import { AdminLockouts } from './pages/admin/lockouts.tsx'
import { AdminSso } from './pages/admin/sso.tsx'
import { AdminSystem } from './pages/admin/system.tsx'
import { AdminUser } from './pages/admin/user.tsx'
import { AdminUsers } from './pages/admin/users.tsx'
import { Files } from './pages/files/files.tsx'
import { Trash } from './pages/files/trash.tsx'
import { MyFiles, SharedWithMe } from './pages/home.tsx'
import { Sharing } from './pages/sharing/sharing.tsx'

interface Route {
  /** Below `ui/`; a part that begins with a colon is handed to the page under that name. */
  readonly pattern: string
  readonly page: ComponentType<{ readonly parts: Readonly<Record<string, string>> }>
}

/** Every page, the first that fits counts. */
export const routes: readonly Route[] = [
  { pattern: '', page: MyFiles },
  { pattern: 'shared', page: SharedWithMe },
  { pattern: 'account', page: Account },
  { pattern: 'contexts/:context/files', page: Files },
  { pattern: 'contexts/:context/files/:folder', page: Files },
  { pattern: 'contexts/:context/trash', page: Trash },
  { pattern: 'contexts/:context/sharing', page: Sharing },
  { pattern: 'admin', page: AdminSystem },
  { pattern: 'admin/users', page: AdminUsers },
  { pattern: 'admin/users/:user', page: AdminUser },
  { pattern: 'admin/groups', page: AdminGroups },
  { pattern: 'admin/groups/:group', page: AdminGroup },
  { pattern: 'admin/contexts', page: AdminContexts },
  { pattern: 'admin/contexts/:context', page: AdminContext },
  { pattern: 'admin/lockouts', page: AdminLockouts },
  { pattern: 'admin/audit', page: AdminAudit },
  { pattern: 'admin/sso', page: AdminSso },
]

interface Section {
  readonly title: MessageKey
  readonly to: string
  /** Whether a path belongs to it. */
  readonly holds: (path: string) => boolean
  readonly forAdmins?: true
}

/** What the bar on top leads to. */
export const sections: readonly Section[] = [
  { title: 'filesOf', to: '', holds: path => path === '' || path === 'shared' || path.startsWith('contexts/') },
  { title: 'account', to: 'account', holds: path => path === 'account' },
  { title: 'administration', to: 'admin', holds: path => path.startsWith('admin'), forAdmins: true },
]
