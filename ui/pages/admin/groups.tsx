import type { Column } from '../../components/table.tsx'
import { part } from '../../lib/base.ts'
import { number } from '../../lib/format.ts'
import { createGroup } from '../../lib/groups.ts'
import { t } from '../../lib/language.ts'
import type { Group } from '../../lib/portions.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { AdminPage } from './admin-page.tsx'
import { Directory } from './directory.tsx'
import { NewGroupDialog } from './new-group.tsx'

/** The group of all signed-in users. */
export const EVERYBODY = '_users'

/** All groups. */
export function AdminGroups() {
  return (
    <AdminPage title={t('adminGroups')}>
      <Directory
        title={t('allGroups')}
        kind="groups"
        columns={columns()}
        keyOf={({ id }) => id}
        make={t('newGroup')}
        Maker={NewGroup}
      />
    </AdminPage>
  )
}

const columns = (): ReadonlyArray<Column<Group>> => [
  {
    title: t('groupName'),
    cell: ({ id, name, fullName }) => (
      <Link class="strong" to={`admin/groups/${part(id)}`}>
        {visible(fullName ?? name ?? t('withoutName'))}
      </Link>
    ),
  },
  { title: t('userId'), cell: ({ id }) => <code>{id}</code> },
  {
    title: t('members'),
    kind: 'number',
    cell: ({ id, members }) => (id === EVERYBODY ? t('everybody') : number(members)),
  },
]

function NewGroup({ onClose }: { readonly onClose: () => void }) {
  const { me } = useSession()
  const create = async (name: string): Promise<string> => `admin/groups/${part(await createGroup(me.baseUri, name))}`
  return <NewGroupDialog title={t('newGroup')} label={t('groupName')} create={create} onClose={onClose} />
}
