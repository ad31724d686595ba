import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Choice, Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt, tell, undoBy } from '../../components/toast.tsx'
import { type Access, accessIn, changeAccess, type Role, roles } from '../../lib/access.ts'
import { ask, askTagged, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import type { ListedContext } from '../../lib/contexts.ts'
import type { Item } from '../../lib/files.ts'
import { tellProblem } from '../../lib/format.ts'
import type { Graph } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { loadPortion } from '../../lib/portions.ts'
import { namesOf } from '../../lib/principals.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { loadContextsOf } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'
import { roleOptions, tellRole } from '../sharing/access-rows.tsx'

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
        {({ rows, names }) =>
          rows.length === 0 ? (
            <p class="muted">{t('contextsOfNone')}</p>
          ) : (
            <Table
              caption={t('contextsOf')}
              columns={columns(id, names, remove)}
              rows={rows}
              keyOf={({ context, role, principal }) => `${context.entryId} ${role} ${principal}`}
            />
          )
        }
      </Await>
    </Card>
  )
}

interface AddContextProps {
  readonly add: (context: string, role: Role) => Promise<void>
}

const MAX_SUGGESTIONS = 8

/** The id of the context with this name or id. @throws {Problem} `not-found` */
async function findContext(typed: string): Promise<string> {
  const { signal } = new AbortController()
  const { items } = await loadPortion<'contexts', ListedContext>('contexts', { query: typed }, signal)
  const found = items.find(({ contextId, name }) => contextId === typed || name === typed)
  if (!found) throw new Problem(404, { code: 'not-found' })
  return found.contextId
}

/** Gives access to a context, which is found by its name. */
function AddContext({ add }: AddContextProps) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('writer')
  const [found] = useLoaded(
    signal => loadPortion<'contexts', ListedContext>('contexts', { query: name, limit: MAX_SUGGESTIONS }, signal),
    [name],
  )
  const give = async (): Promise<void> => {
    await add(await findContext(name), role)
    tell(t('saved'))
    setName('')
  }
  const suggestions =
    found.state === 'ready' ? found.value.items.map(({ name, contextId }) => [name ?? contextId, ''] as const) : []
  return (
    <Form work={give}>
      {problem => (
        <div class="line">
          <Field
            label={t('contextNamed')}
            value={name}
            onValue={setName}
            suggestions={suggestions}
            autocomplete="off"
            required
            error={problem === undefined ? undefined : tellProblem(problem)}
          />
          <Choice
            label={t('may')}
            value={role}
            options={roleOptions()}
            onValue={text => setRole(roles.find(role => role === text) ?? role)}
          />
          <Button type="submit">{t('allow')}</Button>
        </div>
      )}
    </Form>
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
  {
    title: t('actions'),
    kind: 'actions',
    cell: row =>
      row.principal === user && (
        <Button
          kind="quiet danger"
          size="small"
          label={t('removeAccess', { name: visible(row.context.name), role: tellRole(row.role) })}
          onPress={() => remove(row)}
        >
          {t('remove')}
        </Button>
      ),
  },
]
