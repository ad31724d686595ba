import { Await, Card } from '../../components/page.tsx'
import { attempt, undoBy } from '../../components/toast.tsx'
import { type Access, accessIn, changeAccess } from '../../lib/access.ts'
import { ask, askTagged } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import type { Graph } from '../../lib/contexts.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useSession } from '../../lib/session.ts'
import { AccessTable, loadAccessRows } from './access-rows.tsx'
import { AddAccess } from './add-access.tsx'

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
  const [rows, againRows] = useLoaded(signal => loadAccessRows(listed, [], signal), [JSON.stringify(listed)])
  const change = async (access: Access, isGiven: boolean): Promise<void> => {
    const path = `_contexts/entry/${part(id)}`
    const { value, tag } = await askTagged<{ readonly info: Graph }>(path)
    await ask(path, { method: 'PUT', json: changeAccess(value.info, place, access, isGiven), ifMatch: tag })
    again()
  }
  const remove = (access: Access): Promise<boolean> =>
    attempt(
      () => change(access, false),
      t('accessRemoved'),
      undoBy(() => change(access, true), again),
    )
  return (
    <Card title={t('access')}>
      <AddAccess onAdd={access => change(access, true)} />
      <Await loaded={rows} again={againRows}>
        {rows => <AccessTable rows={rows} onRemove={remove} />}
      </Await>
    </Card>
  )
}
