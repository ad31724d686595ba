import { useState } from 'preact/hooks'
import { AddForm } from '../../components/add-form.tsx'
import { Await, Card } from '../../components/page.tsx'
import { removeColumn } from '../../components/remove-column.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt, undoBy } from '../../components/toast.tsx'
import { type Access, accessIn, changeAccess, type Role } from '../../lib/access.ts'
import { ask, askTagged } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import type { Item } from '../../lib/files.ts'
import type { Graph } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { namesOf } from '../../lib/principals.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { loadContextsOf } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'
import { RoleChoice, tellRole } from '../sharing/access-rows.tsx'
import { ContextField, findContext } from './context-field.tsx'

interface Row extends Access {
  readonly context: Item
}

/** The contexts that a user has access to, with the reason; access of their own is given and removed here. */
export function UserContexts({ id }: { readonly id: string }) {
  const { me } = useSession()
  const load = async (signal: AbortSignal) => {
    const { contexts, groups } = await loadContextsOf(id, me, signal)
    const rows = contexts.flatMap((context): Row[] =>
      accessIn(context.info, { base: me.baseUri, context: context.entryId })
        .filter(({ principal }) => principal === id || groups.includes(principal))
        .map(access => ({ ...access, context })),
    )
    return { rows, names: await namesOf(groups, signal) }
  }
  const [loaded, again] = useLoaded(load, [id])
  const edit = async (context: string, role: Role, isGiven: boolean): Promise<void> => {
    const path = `_contexts/entry/${part(context)}`
    const { value, tag } = await askTagged<{ readonly info: Graph }>(path)
    const place = { base: me.baseUri, context }
    const json = changeAccess(value.info, place, { role, principal: id }, isGiven)
    await ask(path, { method: 'PUT', json, ifMatch: tag })
  }
  const remove = async ({ context: { entryId }, role }: Row): Promise<void> => {
    await attempt(
      () => edit(entryId, role, false),
      t('accessRemoved'),
      undoBy(() => edit(entryId, role, true), again),
    )
    again()
  }
  return (
    <Card title={t('contextsOf')}>
      <AddContext
        add={async (context, role) => {
          await edit(context, role, true)
          again()
        }}
      />
      <Await loaded={loaded} again={again}>
        {({ rows, names }) => (
          <Table
            none={t('contextsOfNone')}
            caption={t('contextsOf')}
            columns={columns(id, names, remove)}
            rows={rows}
            keyOf={({ context, role, principal }) => `${context.entryId} ${role} ${principal}`}
          />
        )}
      </Await>
    </Card>
  )
}

interface AddContextProps {
  readonly add: (context: string, role: Role) => Promise<void>
}

/** Gives access to a context, which is found by its name. */
function AddContext({ add }: AddContextProps) {
  const [role, setRole] = useState<Role>('writer')
  const give = async (name: string): Promise<string> => {
    await add(await findContext(name), role)
    return t('saved')
  }
  return (
    <AddForm add={give} action={t('allow')} field={field => <ContextField {...field} label={t('contextNamed')} />}>
      <RoleChoice value={role} onValue={setRole} />
    </AddForm>
  )
}

const columns = (
  user: string,
  names: ReadonlyMap<string, string>,
  remove: (row: Row) => Promise<void>,
): ReadonlyArray<Column<Row>> => [
  {
    title: t('context'),
    kind: 'wide',
    cell: ({ context: { entryId, name } }) => (
      <Link class="strong" to={`admin/contexts/${part(entryId)}`}>
        {visible(name)}
      </Link>
    ),
  },
  { title: t('may'), cell: ({ role }) => tellRole(role) },
  {
    title: t('why'),
    cell: ({ principal }) =>
      principal === user ? t('whyListed') : t('whyGroup', { name: visible(names.get(principal) ?? principal) }),
  },
  removeColumn(
    ({ principal, context: { name }, role }) =>
      principal === user ? t('removeAccess', { name: visible(name), role: tellRole(role) }) : undefined,
    remove,
  ),
]
