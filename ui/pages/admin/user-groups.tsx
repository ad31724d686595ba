import { AddForm } from '../../components/add-form.tsx'
import { Await, Card } from '../../components/page.tsx'
import { PrincipalField } from '../../components/principal-field.tsx'
import { removeColumn } from '../../components/remove-column.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt, undoBy } from '../../components/toast.tsx'
import { part } from '../../lib/base.ts'
import { setMember } from '../../lib/groups.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { findPrincipal, namesOf } from '../../lib/principals.ts'
import { Link } from '../../lib/router.tsx'
import { groupIdsOf } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'

interface Membership {
  readonly id: string
  readonly name: string
}

async function loadGroups(user: string, signal: AbortSignal): Promise<readonly Membership[]> {
  const ids = await groupIdsOf(user, signal)
  const names = await namesOf(ids, signal)
  return ids.map(id => ({ id, name: names.get(id) ?? id }))
}

/** The groups of a user, to add and to remove. */
export function UserGroups({ id }: { readonly id: string }) {
  const [loaded, again] = useLoaded(signal => loadGroups(id, signal), [id])
  const remove = async ({ id: group, name }: Membership): Promise<void> => {
    await attempt(
      () => setMember(group, id, false),
      t('groupLeft', { name: visible(name) }),
      undoBy(() => setMember(group, id, true), again),
    )
    again()
  }
  return (
    <Card title={t('groupsOf')}>
      <AddToGroup id={id} again={again} />
      <Await loaded={loaded} again={again}>
        {groups => (
          <Table
            none={t('groupsOfNone')}
            caption={t('groupsOf')}
            columns={columns(remove)}
            rows={groups}
            keyOf={({ id }) => id}
          />
        )}
      </Await>
    </Card>
  )
}

function AddToGroup({ id, again }: { readonly id: string; readonly again: () => void }) {
  const add = async (name: string): Promise<string> => {
    await setMember(await findPrincipal(name), id, true)
    again()
    return t('groupJoined', { name: visible(name) })
  }
  return <AddForm add={add} field={field => <PrincipalField {...field} label={t('addToGroup')} among="groups" />} />
}

const columns = (remove: (group: Membership) => Promise<void>): ReadonlyArray<Column<Membership>> => [
  {
    title: t('groupName'),
    kind: 'wide',
    cell: ({ id, name }) => (
      <Link class="strong" to={`admin/groups/${part(id)}`}>
        {visible(name)}
      </Link>
    ),
  },
  removeColumn(({ name }) => t('removeMember', { name: visible(name) }), remove),
]
