import { Await, Card } from '../../components/page.tsx'
import { type Access, accessIn, changeAccess } from '../../lib/access.ts'
import { ask, askTagged, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { loadContext } from '../../lib/contexts.ts'
import type { Graph } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useSession } from '../../lib/session.ts'
import { AccessTable, loadAccessRows } from './access-rows.tsx'
import { AddAccess } from './add-access.tsx'
import { useRemoval } from './removal.tsx'
import { roleChange } from './role-change.ts'

interface ContextAccessProps {
  readonly id: string
  readonly info: Graph
  readonly again: () => void
}

/** The permissions of a context and their reasons. */
export function ContextAccess({ id, info, again }: ContextAccessProps) {
  const { me } = useSession()
  const place = { base: me.baseUri, context: id }
  const listed = accessIn(info, place)
  const [rows, againRows] = useLoaded(signal => loadAccessRows(listed, [], { place, signal }), [JSON.stringify(listed)])
  const edit = async (edited: (info: Graph) => Graph): Promise<void> => {
    const path = `_contexts/entry/${part(id)}`
    const { value, tag } = await askTagged<{ readonly info: Graph }>(path)
    await ask(path, { method: 'PUT', json: edited(value.info), ifMatch: tag })
  }
  const set = (access: Access, isGiven: boolean) => edit(info => changeAccess(info, place, access, isGiven))
  const requireOtherOwner = (access: Access): void => {
    const owners = listed.filter(({ role }) => role === 'owner')
    if (!me.isAdmin && access.role === 'owner' && owners.length === 1) throw new Problem(409, { code: 'last-owner' })
  }
  const isStillOwner = async (): Promise<boolean> => (await loadContext(id)).isOwner
  const add = async (access: Access): Promise<void> => {
    await set(access, true)
    again()
  }
  const { remove, question } = useRemoval({
    isOwn: ({ principal }) => principal === me.id && !me.isAdmin,
    work: async access => {
      requireOtherOwner(access)
      await set(access, false)
    },
    giveBack: access => set(access, true),
    isStillOwner,
    again,
  })
  const changeRole = roleChange({
    work: async (from, to) => {
      requireOtherOwner(from)
      await edit(info => changeAccess(changeAccess(info, place, to, true), place, from, false))
    },
    isStillOwner,
    again,
  })
  return (
    <Card title={t('access')}>
      <AddAccess place={place} onAdd={add} />
      <Await loaded={rows} again={againRows}>
        {rows => <AccessTable rows={rows} onRemove={remove} onRole={changeRole} />}
      </Await>
      {question}
    </Card>
  )
}
