import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Await, Card } from '../../components/page.tsx'
import { attempt } from '../../components/toast.tsx'
import {
  type Access,
  accessIn,
  isRestricted,
  passesFolder,
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
import type { MessageKey } from '../../messages/en.ts'
import { type AccessRow, AccessTable, type InheritedAccess, loadAccessRows } from './access-rows.tsx'
import { AddAccess } from './add-access.tsx'
import { useRemoval } from './removal.tsx'
import { roleChange } from './role-change.ts'

interface EntryAccessProps {
  readonly item: Item
  /** Access to the context; empty if the user may not read it. */
  readonly ofContext: readonly Access[]
  /** Access that comes from folders and the context, as far as it counts for the item. */
  readonly inherited: readonly InheritedAccess[]
  readonly again: () => void
}

/** Who has access to a file or folder, and a switch that shuts out those who have it from above only. */
export function EntryAccess({ item, ofContext, inherited, again }: EntryAccessProps) {
  const { me } = useSession()
  const { context, entryId, isFolder, info } = item
  const place = { base: me.baseUri, context, entry: entryId }
  const listed = accessIn(info, place)
  const isOnly = isRestricted(info, place)
  const [rows, againRows] = useLoaded(
    signal => loadAccessRows(listed, inherited, { place, signal }),
    [JSON.stringify([listed, inherited])],
  )
  const edit = async (edited: (info: Graph) => Graph): Promise<void> => {
    const path = `${part(context)}/entry/${part(entryId)}`
    const { value, tag } = await askTagged<{ readonly info: Graph }>(path)
    await ask(path, { method: 'PUT', json: edited(value.info), ifMatch: tag })
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
    giveBack: access => edit(info => withAccess(info, place, access, isFolder)),
    isStillOwner,
    again,
  })
  const changeRole = roleChange({
    // The new role comes first: a list without any would let in those who have access to the context.
    work: (from, to) => edit(info => withoutAccess(withAccess(info, place, to, isFolder), place, from)),
    isStillOwner,
    again,
  })
  return (
    <Card title={t('access')}>
      <p class="muted">{t(isOnly ? 'onlyTheseText' : shareTextOf(item))}</p>
      {item.folder !== undefined && passesFolder(info, place) && (
        <p>
          {t('passesFolderText')}{' '}
          <Button kind="quiet" size="small" onPress={() => change(info => unrestricted(info, place))}>
            {t('followFolder')}
          </Button>
        </p>
      )}
      <AddAccess place={place} onAdd={access => change(info => withAccess(info, place, access, isFolder))} />
      <Await loaded={rows} again={againRows}>
        {rows => (
          <>
            <AccessTable rows={rows} onRemove={remove} onRole={changeRole} />
            <OnlyThese
              isOnly={isOnly}
              losing={rows.filter(row => isLost(row, listed))}
              onChange={isOnly =>
                change(info => (isOnly ? restricted(info, place, { me: me.id, isFolder }) : unrestricted(info, place)))
              }
            />
          </>
        )}
      </Await>
      {question}
    </Card>
  )
}

/** Who has access without being listed. */
const shareTextOf = ({ isFolder, folder }: Item): MessageKey => {
  if (folder === undefined) return isFolder ? 'shareFolderText' : 'shareFileText'
  return isFolder ? 'shareInnerFolderText' : 'shareFileInFolderText'
}

/** Whether a row says that somebody has access from above only, and does not own the context. */
const isLost = ({ why, role, principal }: AccessRow, listed: readonly Access[]): boolean =>
  (why === 'folder' || (why === 'context' && role !== 'owner')) &&
  !listed.some(access => access.principal === principal)

interface OnlyTheseProps {
  readonly isOnly: boolean
  /** Those who have access from above only. */
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
