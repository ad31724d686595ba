import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import type { Column } from '../../components/table.tsx'
import { tell } from '../../components/toast.tsx'
import { part } from '../../lib/base.ts'
import { number, tellProblem } from '../../lib/format.ts'
import { createGroup } from '../../lib/groups.ts'
import { t } from '../../lib/language.ts'
import type { Group } from '../../lib/portions.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { AdminPage } from './admin-page.tsx'
import { Directory } from './directory.tsx'
import { NameField } from './name-field.tsx'

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

/** Creates a group and opens its page. */
function NewGroup({ onClose }: { readonly onClose: () => void }) {
  const { me } = useSession()
  const [name, setName] = useState('')
  const create = async (): Promise<void> => {
    const id = await createGroup(me.baseUri, name)
    tell(t('groupCreated', { name: visible(name) }))
    navigate(`admin/groups/${part(id)}`)
  }
  return (
    <Dialog title={t('newGroup')} onClose={onClose}>
      <Form work={create}>
        {problem => (
          <>
            <NameField
              label={t('groupName')}
              value={name}
              onValue={setName}
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('createGroup')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
