import { AddForm } from '../../components/add-form.tsx'
import { Await, Card } from '../../components/page.tsx'
import { PrincipalField } from '../../components/principal-field.tsx'
import { removeColumn } from '../../components/remove-column.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt, undoBy } from '../../components/toast.tsx'
import { ask, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { changeMembers, groupPath, type GroupResource, type Member, renameGroup } from '../../lib/groups.ts'
import { labelsOf } from '../../lib/labels.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { findPrincipal, namesOf } from '../../lib/principals.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { AdminPage, ForAdmins } from './admin-page.tsx'
import { EVERYBODY } from './groups.tsx'
import { DeletePrincipal, RenamePrincipal } from './principal.tsx'

/** One group. */
export function AdminGroup({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  return (
    <ForAdmins title={t('adminGroups')}>
      <GroupOf id={parts['group'] ?? ''} />
    </ForAdmins>
  )
}

function GroupOf({ id }: { readonly id: string }) {
  const { me } = useSession()
  const load = async (signal: AbortSignal) => {
    const [group, labels] = await Promise.all([
      ask<GroupResource>(groupPath(id), { signal }),
      labelsOf([`_principals/${id}`], signal),
    ])
    const members = group.children.map(({ entryId }) => entryId)
    const names = await namesOf(members, signal)
    const children = group.children.map(member => ({ ...member, name: names.get(member.entryId) ?? member.entryId }))
    return { name: group.name ?? id, title: labels.get(`_principals/${id}`), children }
  }
  const [loaded, again] = useLoaded(load, [id])
  const name = loaded.state === 'ready' ? loaded.value.name : id
  const title = (loaded.state === 'ready' ? loaded.value.title : undefined) ?? name
  const remove = async ({ entryId, name = entryId }: Member): Promise<void> => {
    const without = (members: readonly string[]): string[] => members.filter(member => member !== entryId)
    const withAgain = (members: readonly string[]): string[] => [...without(members), entryId]
    await attempt(
      () => changeMembers(id, without),
      t('memberRemoved', { name }),
      undoBy(() => changeMembers(id, withAgain), again),
    )
    again()
  }
  return (
    <AdminPage title={visible(title)} within={{ to: 'admin/groups', name: t('adminGroups') }}>
      <Card title={t('members')}>
        {id === EVERYBODY ? (
          <p class="notice">{t('everybodyText')}</p>
        ) : (
          <>
            <AddMember id={id} again={again} />
            <Await loaded={loaded} again={again}>
              {({ children }) => (
                <Table
                  none={t('membersNone')}
                  caption={t('members')}
                  columns={columns(remove)}
                  rows={children}
                  keyOf={({ entryId }) => entryId}
                />
              )}
            </Await>
          </>
        )}
      </Card>
      {!id.startsWith('_') && (
        <RenamePrincipal id={id} name={name} again={again} rename={name => renameGroup(me.baseUri, id, name)} />
      )}
      {!id.startsWith('_') && (
        <DeletePrincipal
          id={id}
          name={name}
          kind="group"
          text={t('deleteGroupText')}
          onDeleted={() => navigate('admin/groups')}
        />
      )}
    </AdminPage>
  )
}

function AddMember({ id, again }: { readonly id: string; readonly again: () => void }) {
  const add = async (name: string): Promise<string> => {
    const member = await findPrincipal(name)
    await changeMembers(id, members => {
      if (members.includes(member)) throw new Problem(409, { code: 'member-already' })
      return [...members, member]
    })
    again()
    return t('memberAdded', { name })
  }
  return <AddForm add={add} field={field => <PrincipalField {...field} label={t('addMember')} />} />
}

const columns = (remove: (member: Member) => Promise<void>): ReadonlyArray<Column<Member>> => [
  {
    title: t('userName'),
    cell: ({ entryId, name }) => (
      <Link class="strong" to={`admin/users/${part(entryId)}`}>
        {name ?? t('withoutName')}
      </Link>
    ),
  },
  { title: t('userId'), cell: ({ entryId }) => <code>{entryId}</code> },
  removeColumn(({ entryId, name = entryId }) => t('removeMember', { name }), remove),
]
