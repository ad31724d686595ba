import { Button } from '../../components/button.tsx'
import { Await, Card, Page } from '../../components/page.tsx'
import { attempt, undoBy } from '../../components/toast.tsx'
import { type Access, accessIn, changeAccess, withoutOwnAccess, withOwnAccess } from '../../lib/access.ts'
import { ask, askTagged, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { loadContext } from '../../lib/contexts.ts'
import { type Graph } from '../../lib/graph.ts'
import { type Item, loadItem } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { AccessTable, loadAccessRows } from './access-rows.tsx'
import { AddAccess } from './add-access.tsx'
import { EntryLinks } from './entry-links.tsx'
import { useRemoval } from './removal.tsx'

interface Shared {
  readonly item: Item
  /** Access to the context; empty if the user may not read it. */
  readonly ofContext: readonly Access[]
}

/** The permissions of a file or folder, for users who may change them. */
export function EntrySharing({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const { context = '', entry = '' } = parts
  const { me } = useSession()
  const load = async (signal: AbortSignal): Promise<Shared> => {
    const [item, { info }] = await Promise.all([loadItem(context, entry, signal), loadContext(context, signal)])
    return { item, ofContext: accessIn(info, { base: me.baseUri, context }) }
  }
  const [loaded, again] = useLoaded(load, [context, entry])
  const name = loaded.state === 'ready' ? visible(loaded.value.item.name) : entry
  return (
    <Page
      title={t('shareContext', { name })}
      lead={<Link to={`contexts/${part(context)}/files`}>← {t('toFiles')}</Link>}
    >
      <Await loaded={loaded} again={again}>
        {shared =>
          shared.item.isOwner ? (
            <>
              <EntryAccess {...shared} again={again} />
              <EntryLinks context={context} entry={entry} />
            </>
          ) : (
            <p class="notice warn">{t('ownersOnly')}</p>
          )
        }
      </Await>
    </Page>
  )
}

function EntryAccess({ item, ofContext, again }: Shared & { readonly again: () => void }) {
  const { me } = useSession()
  const { context, entryId, isFolder, info } = item
  const place = { base: me.baseUri, context, entry: entryId }
  const listed = accessIn(info, place)
  const isOwn = listed.length > 0
  // Owners of the context own everything in it.
  const inherited = ofContext.filter(({ role }) => !isOwn || role === 'owner')
  const [rows, againRows] = useLoaded(
    signal => loadAccessRows(listed, inherited, signal),
    [JSON.stringify([listed, inherited])],
  )
  const edit = async (edit: (info: Graph) => Graph): Promise<void> => {
    const path = `${part(context)}/entry/${part(entryId)}`
    const { value, tag } = await askTagged<{ readonly info: Graph }>(path)
    await ask(isFolder ? `${path}?applyACLtoChildren=true` : path, {
      method: 'PUT',
      json: edit(value.info),
      ifMatch: tag,
    })
  }
  const change = async (edited: (info: Graph) => Graph): Promise<void> => {
    await edit(edited)
    again()
  }
  const add = (access: Access): Promise<void> =>
    change(info => {
      const isFirst = accessIn(info, place).length === 0
      return changeAccess(isFirst ? withOwnAccess(info, place, ofContext, me.id) : info, place, access, true)
    })
  const giveBack = (accesses: readonly Access[]) =>
    undoBy(
      () => change(info => accesses.reduce((graph, access) => changeAccess(graph, place, access, true), info)),
      again,
    )
  const ownsContext = ofContext.some(({ role, principal }) => role === 'owner' && principal === me.id)
  const { remove, question } = useRemoval({
    isOwn: ({ principal }) => principal === me.id && !me.isAdmin && !ownsContext,
    work: access => edit(withoutOne(access)),
    giveBack: access => edit(info => changeAccess(info, place, access, true)),
    isStillOwner: async () => (await loadItem(context, entryId)).isOwner,
    again,
  })
  const withoutOne = (access: Access) => (info: Graph) => {
    const rest = changeAccess(info, place, access, false)
    // An empty list would apply the permissions of the context: more access, not less.
    if (accessIn(rest, place).length === 0) throw new Problem(409, { code: 'last-permission' })
    return rest
  }
  return (
    <Card
      title={t('access')}
      aside={
        isOwn && (
          <Button
            kind="quiet"
            size="small"
            onPress={() => attempt(() => change(info => withoutOwnAccess(info, place)), t('saved'), giveBack(listed))}
          >
            {t('useContextAccess')}
          </Button>
        )
      }
    >
      <p class="muted">{t(isOwn ? 'ownAccessText' : isFolder ? 'shareFolderText' : 'shareFileText')}</p>
      <AddAccess onAdd={add} />
      <Await loaded={rows} again={againRows}>
        {rows => <AccessTable rows={rows} onRemove={remove} />}
      </Await>
      {question}
    </Card>
  )
}
