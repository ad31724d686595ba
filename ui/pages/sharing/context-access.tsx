import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Choice } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Await, Card } from '../../components/page.tsx'
import { PrincipalField } from '../../components/principal-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt, tell } from '../../components/toast.tsx'
import { type Access, accessIn, changeAccess, type Role, roles } from '../../lib/access.ts'
import { ask, askTagged } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import type { Graph } from '../../lib/contexts.ts'
import { tellProblem } from '../../lib/format.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { findPrincipal, namesOf } from '../../lib/principals.ts'
import { useSession } from '../../lib/session.ts'

interface ContextAccessProps {
  readonly id: string
  readonly info: Graph
  readonly again: () => void
}

/** Who may do what with a context, besides administrators. */
export function ContextAccess({ id, info, again }: ContextAccessProps) {
  const { me } = useSession()
  const place = { base: me.baseUri, context: id }
  const all = accessIn(info, place)
  const [names, againNames] = useLoaded(
    signal =>
      namesOf(
        all.map(({ principal }) => principal),
        signal,
      ),
    [JSON.stringify(all)],
  )
  const change = async (access: Access, isGiven: boolean): Promise<void> => {
    const path = `_contexts/entry/${part(id)}`
    const { value, tag } = await askTagged<{ readonly info: Graph }>(path)
    const json = changeAccess(value.info, place, access, isGiven)
    await ask(path, { method: 'PUT', json, ifMatch: tag })
    again()
  }
  const columns = (names: ReadonlyMap<string, string>): ReadonlyArray<Column<Access>> => {
    const nameOf = ({ principal }: Access): string => names.get(principal) ?? principal
    return [
      { title: t('userOrGroup'), cell: access => <strong>{nameOf(access)}</strong> },
      { title: t('may'), cell: ({ role }) => tellRole(role) },
      {
        title: t('actions'),
        kind: 'actions',
        cell: access => (
          <Button
            kind="quiet danger"
            size="small"
            label={t('removeAccess', { name: nameOf(access), role: tellRole(access.role) })}
            onPress={() => attempt(() => change(access, false), t('saved'))}
          >
            {t('remove')}
          </Button>
        ),
      },
    ]
  }
  return (
    <Card title={t('access')}>
      <AddAccess onAdd={access => change(access, true)} />
      <Await loaded={names} again={againNames}>
        {names =>
          all.length === 0 ? (
            <p class="empty">{t('accessNone')}</p>
          ) : (
            <Table
              caption={t('access')}
              columns={columns(names)}
              rows={all}
              keyOf={({ role, principal }) => `${role} ${principal}`}
            />
          )
        }
      </Await>
    </Card>
  )
}

/** Whoever has not signed in. */
const GUEST = '_guest'

const tellRole = (role: Role): string => findMessage(`role.${role}`) ?? role

function AddAccess({ onAdd }: { readonly onAdd: (access: Access) => Promise<void> }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('reader')
  const [isPublic, setPublic] = useState(false)
  const grant = async (): Promise<void> => {
    await onAdd({ role, principal: await findPrincipal(name) })
    tell(t('saved'))
    setName('')
  }
  const add = async (): Promise<void> => {
    if ((await findPrincipal(name)) === GUEST) setPublic(true)
    else await grant()
  }
  return (
    <>
      <Form work={add}>
        {problem => (
          <div class="line">
            <PrincipalField
              label={t('userOrGroup')}
              value={name}
              onValue={setName}
              withGroups
              required
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <Choice
              label={t('may')}
              value={role}
              options={roles.map(role => [role, tellRole(role)] as const)}
              onValue={text => setRole(roles.find(role => role === text) ?? role)}
            />
            <Button type="submit">{t('allow')}</Button>
          </div>
        )}
      </Form>
      {isPublic && (
        <Confirm
          title={t('everyoneConfirm')}
          text={t('everyoneConfirmText')}
          action={t('allow')}
          onConfirm={async () => void (await attempt(grant, t('saved')))}
          onClose={() => setPublic(false)}
        />
      )}
    </>
  )
}
