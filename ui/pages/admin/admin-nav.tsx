import { useId, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { t } from '../../lib/language.ts'
import { currentPath, Link } from '../../lib/router.tsx'
import type { MessageKey } from '../../messages/en.ts'

type Entry = readonly [to: string, name: MessageKey]

const overview: Entry = ['admin', 'adminSystem']

/** The pages of the administration by subject. */
const groups = [
  [
    'adminPeople',
    [
      ['admin/users', 'adminUsers'],
      ['admin/groups', 'adminGroups'],
      ['admin/sessions', 'adminSessions'],
      ['admin/lockouts', 'adminLockouts'],
    ],
  ],
  [
    'adminContent',
    [
      ['admin/contexts', 'adminContexts'],
      ['admin/quotas', 'adminQuotas'],
      ['admin/links', 'publicLinks'],
    ],
  ],
  ['adminSignIn', [['admin/sso', 'adminSso']]],
  [
    'adminService',
    [
      ['admin/checks', 'adminFindings'],
      ['admin/backups', 'backups'],
      ['admin/settings', 'adminSettings'],
      ['admin/audit', 'adminAudit'],
    ],
  ],
] as const satisfies ReadonlyArray<readonly [MessageKey, readonly Entry[]]>

/** Where one is in the administration: a side bar, in a narrow window behind a button. */
export function AdminNav() {
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="side">
      <div class="opener">
        <Button kind="quiet" onPress={() => setOpen(true)}>
          <Icon name="menu" />
          {t('adminMenu')}
        </Button>
      </div>
      <Nav />
      {isOpen && (
        <Dialog title={t('administration')} size="drawer" onClose={() => setOpen(false)}>
          <Nav />
          <div class="buttons">
            <Button kind="quiet" onPress={() => setOpen(false)}>
              {t('close')}
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  )
}

function Nav() {
  const id = useId()
  return (
    <nav aria-label={t('administration')}>
      <Entries entries={[overview]} />
      {groups.map(([title, entries]) => (
        <div key={title}>
          <p class="subject" id={`${id}-${title}`}>
            {t(title)}
          </p>
          <Entries entries={entries} labelledBy={`${id}-${title}`} />
        </div>
      ))}
    </nav>
  )
}

interface EntriesProps {
  readonly entries: readonly Entry[]
  readonly labelledBy?: string
}

function Entries({ entries, labelledBy }: EntriesProps) {
  const path = currentPath()
  const current = (to: string): 'page' | 'true' | undefined => {
    if (path === to) return 'page'
    return to !== 'admin' && path.startsWith(`${to}/`) ? 'true' : undefined
  }
  return (
    <ul aria-labelledby={labelledBy}>
      {entries.map(([to, name]) => (
        <li key={to}>
          <Link to={to} current={current(to)}>
            {t(name)}
          </Link>
        </li>
      ))}
    </ul>
  )
}
