import { useState } from 'preact/hooks'
import { Confirm } from '../../components/dialog.tsx'
import { Await, Card } from '../../components/page.tsx'
import { attempt } from '../../components/toast.tsx'
import {
  type Access,
  accessIn,
  isRestricted,
  restricted,
  unrestricted,
  withAccess,
  withoutAccess,
} from '../../lib/access.ts'
import { ask, askTagged, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { type Item, loadItem } from '../../lib/files.ts'
import type { Graph } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { type AccessRow, AccessTable, loadAccessRows } from './access-rows.tsx'
import { AddAccess } from './add-access.tsx'
import { useRemoval } from './removal.tsx'
import { roleChange } from './role-change.ts'

interface EntryAccessProps {
  readonly item: Item
  /** Access to the context; empty if the user may not read it. */
  readonly ofContext: readonly Access[]
  readonly again: () => void
}

/** Who has access to a file or folder, and a switch that shuts out those who have it by the context only. */
export function EntryAccess({ item, ofContext, again }: EntryAccessProps) {
  const { me } = useSession()
  const { context, entryId, isFolder, info } = item
  const place = { base: me.baseUri, context, entry: entryId }
  const listed = accessIn(info, place)
  const isOnly = isRestricted(info, place)
  // Owners of the context own everything in it.
  const inherited = ofContext.filter(({ role }) => !isOnly || role === 'owner')
  const [rows, againRows] = useLoaded(
    signal => loadAccessRows(listed, inherited, { place, signal }),
    [JSON.stringify([listed, inherited])],
  )
  const edit = async (edited: (info: Graph) => Graph): Promise<void> => {
    const path = `${part(context)}/entry/${part(entryId)}`
    const { value, tag } = await askTagged<{ readonly info: Graph }>(path)
    await ask(isFolder ? `${path}?applyACLtoChildren=true` : path, {
      method: 'PUT',
      json: edited(value.info),
      ifMatch: tag,
    })
  }
  const change = async (edited: (info: Graph) => Graph): Promise<void> => {
    await edit(edited)
    again()
  }
  const ownsContext = ofContext.some(({ role, principal }) => role === 'owner' && principal === me.id)
  const isStillOwner = async (): Promise<boolean> => (await loadItem(context, entryId)).isOwner
  const { remove, question } = useRemoval({
    isOwn: ({ principal }) => principal === me.id && !me.isAdmin && !ownsContext,
    work: access =>
      edit(info => {
        const rest = withoutAccess(info, place, access)
        // An empty list would let in those who have access to the context: more people, not fewer.
        if (isOnly && accessIn(rest, place).length === 0) throw new Problem(409, { code: 'last-permission' })
        return rest
      }),
    giveBack: access => edit(info => withAccess(info, place, access)),
    isStillOwner,
    again,
  })
  const changeRole = roleChange({
    // The new role comes first: a list without any would let in those who have access to the context.
    work: (from, to) => edit(info => withoutAccess(withAccess(info, place, to), place, from)),
    isStillOwner,
    again,
  })
  return (
    <Card title={t('access')}>
      <p class="muted">{t(isOnly ? 'onlyTheseText' : isFolder ? 'shareFolderText' : 'shareFileText')}</p>
      <AddAccess place={place} onAdd={access => change(info => withAccess(info, place, access))} />
      <Await loaded={rows} again={againRows}>
        {rows => (
          <>
            <AccessTable rows={rows} onRemove={remove} onRole={changeRole} />
            <OnlyThese
              isOnly={isOnly}
              losing={rows.filter(row => isLost(row, listed))}
              onChange={isOnly => change(info => (isOnly ? restricted(info, place, me.id) : unrestricted(info, place)))}
            />
          </>
        )}
      </Await>
      {question}
    </Card>
  )
}

/** Whether a row says that somebody has access by the context only. */
const isLost = ({ why, role, principal }: AccessRow, listed: readonly Access[]): boolean =>
  why === 'context' && role !== 'owner' && !listed.some(access => access.principal === principal)

interface OnlyTheseProps {
  readonly isOnly: boolean
  /** Those who have access by the context only. */
  readonly losing: readonly AccessRow[]
  readonly onChange: (isOnly: boolean) => Promise<void>
}

function OnlyThese({ isOnly, losing, onChange }: OnlyTheseProps) {
  const [isAsking, setAsking] = useState(false)
  const names = [...new Set(losing.map(({ name }) => visible(name)))].join(', ')
  const set = async (isOnly: boolean): Promise<void> => void (await attempt(() => onChange(isOnly), t('saved')))
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          role="switch"
          checked={isOnly}
          onClick={event => {
            // What the box shows is what is stored.
            event.preventDefault()
            if (isOnly) void set(false)
            else setAsking(true)
          }}
        />
        {t('onlyThese')}
      </label>
      {isAsking && (
        <Confirm
          title={t('onlyTheseAsk')}
          text={names === '' ? t('losesNobody') : t('losesAccess', { names })}
          action={t('restrict')}
          onConfirm={() => set(true)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
