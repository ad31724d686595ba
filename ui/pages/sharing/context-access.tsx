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
  const edit = async (access: Access, isGiven: boolean): Promise<void> => {
    const path = `_contexts/entry/${part(id)}`
    const { value, tag } = await askTagged<{ readonly info: Graph }>(path)
    await ask(path, { method: 'PUT', json: changeAccess(value.info, place, access, isGiven), ifMatch: tag })
  }
  const add = async (access: Access): Promise<void> => {
    await edit(access, true)
    again()
  }
  const { remove, question } = useRemoval({
    isOwn: ({ principal }) => principal === me.id && !me.isAdmin,
    work: async access => {
      const owners = listed.filter(({ role }) => role === 'owner')
      if (!me.isAdmin && access.role === 'owner' && owners.length === 1) throw new Problem(409, { code: 'last-owner' })
      await edit(access, false)
    },
    giveBack: access => edit(access, true),
    isStillOwner: async () => (await loadContext(id)).isOwner,
    again,
  })
  return (
    <Card title={t('access')}>
      <AddAccess place={place} onAdd={add} />
      <Await loaded={rows} again={againRows}>
        {rows => <AccessTable rows={rows} onRemove={remove} />}
      </Await>
      {question}
    </Card>
  )
}
