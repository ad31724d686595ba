import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await } from '../../components/page.tsx'
import { type Context, contextTitle, loadContext } from '../../lib/contexts.ts'
import { type Item, loadFolders } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { previewMove, tellMoveChange } from '../../lib/move-preview.ts'
import { loadMyContexts, type MyContexts } from '../../lib/my-contexts.ts'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import type { Target } from '../../lib/uploads.ts'
import type { MessageKey } from '../../messages/en.ts'
import { countOf, type Picked } from './many-items.ts'
import { moveAll, moveChosen, sendTo } from './moving.ts'
import { NewFolder } from './name-dialog.tsx'
import { SpaceList } from './space-list.tsx'

interface ChoosePlaceProps {
  readonly kind: 'move' | 'copy'
  readonly picked: Picked
  /** The space that the items are in. */
  readonly target: Target
  readonly onClose: () => void
  readonly onChanged: () => void
}

type Folder = Pick<Item, 'entryId' | 'name'>

/** A space that items can go to. */
export interface Space {
  readonly context: string
  readonly name: string
  /** Whether the user may put something into the space itself, not only into a folder of it. */
  readonly canWrite: boolean
}

/** A place that has been opened, with the folders in it. */
interface Opened {
  readonly space: Space
  /** The folders from the outermost one on. */
  readonly path: readonly Folder[]
  readonly folders: readonly Folder[]
}

const texts = {
  move: { one: 'moveOne', many: 'moveMany', here: 'moveHere' },
  copy: { one: 'copyOne', many: 'copyMany', here: 'copyHere' },
} as const satisfies Readonly<Record<ChoosePlaceProps['kind'], Readonly<Record<string, MessageKey>>>>

/** Opens folders one after the other, of this space or another one, until the person moves or copies the items into one of them. */
export function ChoosePlace({ kind, picked, target, onClose, onChanged }: ChoosePlaceProps) {
  const { me } = useSession()
  const { items, chosen } = picked
  const [at, setAt] = useState<Omit<Opened, 'folders'> | 'start' | 'spaces'>('start')
  const [isMaking, setMaking] = useState(false)
  const [first] = items
  const count = countOf(picked)
  const title =
    first && count === 1
      ? t(texts[kind].one, { name: visible(first.name) })
      : t(texts[kind].many, { count: number(count) })
  // With the path that the folders belong to: until the next ones are there, these stay.
  const load = async (signal: AbortSignal): Promise<Opened | MyContexts> => {
    if (at === 'spaces') return await loadMyContexts('write', 0, signal)
    const { context } = at === 'start' ? target : at.space
    const path = at === 'start' ? [] : at.path
    const [space, folders] = await Promise.all([
      at === 'start' ? loadContext(context, signal).then(spaceOf) : at.space,
      loadFolders({ contextUri: me.baseUri + context, folder: path.at(-1)?.entryId }, signal),
    ])
    const isPicked = ({ entryId }: Folder): boolean =>
      items.some(item => item.context === context && item.entryId === entryId)
    return { space, path, folders: folders.filter(folder => !isPicked(folder)) }
  }
  const [loaded, again] = useLoaded(load, [at])
  const shown = loaded.state === 'ready' ? loaded.value : undefined
  const opened = shown && 'path' in shown ? shown : undefined
  const list = useFocusAfterStep(shown)
  const preview = async (signal: AbortSignal): Promise<string> => {
    const change =
      kind === 'move' && opened ? await previewMove(items, targetOf(opened, me.baseUri), signal) : undefined
    return change ? tellMoveChange(change) : ''
  }
  const [changes] = useLoaded(preview, [opened])
  // Who may not give an item away moves it within its space.
  const canLeave = kind === 'copy' || items.every(({ isOwner }) => isOwner)
  const send = async (): Promise<void> => {
    if (!opened) return
    const to = targetOf(opened, me.baseUri)
    const name = opened.path.at(-1)?.name ?? opened.space.name
    if (kind === 'move' && to.context === target.context) {
      if (await (chosen ? moveChosen(picked, to, onChanged) : moveAll(items, to, onChanged))) onClose()
    } else if (await sendTo(kind, picked, { ...to, name })) {
      onChanged()
      onClose()
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Await loaded={loaded} again={again}>
        {shown => (
          <Form work={send}>
            {() => (
              <>
                <PlacePath opened={opened} canLeave={canLeave} onOpen={setAt} />
                <div ref={list}>
                  {'path' in shown ? (
                    <FolderList opened={shown} onOpen={setAt} />
                  ) : (
                    <SpaceList first={shown} onOpen={space => setAt({ space: spaceOf(space), path: [] })} />
                  )}
                </div>
                <p role="status">{changes.state === 'ready' ? changes.value : ''}</p>
                <DialogButtons onClose={onClose}>
                  {opened && (
                    <>
                      <Button kind="quiet" onPress={() => setMaking(true)}>
                        {t('newFolder')}
                      </Button>
                      <Button type="submit" disabled={!isPossible(kind, items, opened)}>
                        {t(texts[kind].here)}
                      </Button>
                    </>
                  )}
                </DialogButtons>
              </>
            )}
          </Form>
        )}
      </Await>
      {isMaking && opened && (
        <NewFolder target={targetOf(opened, me.baseUri)} onClose={() => setMaking(false)} onCreated={again} />
      )}
    </Dialog>
  )
}

const spaceOf = (context: Pick<Context, 'contextId' | 'name' | 'metadata' | 'rights'>): Space => {
  const { contextId, rights = [] } = context
  const canWrite = ['administer', 'writeresource'].some(right => rights.includes(right))
  // A folder may be shared by itself, in a space that has no name for the person.
  return { context: contextId, name: rights.length > 0 ? contextTitle(context) : t('topLevel'), canWrite }
}

const targetOf = ({ space: { context }, path }: Omit<Opened, 'folders'>, base: string): Target => ({
  context,
  contextUri: base + context,
  folder: path.at(-1)?.entryId,
})

/** Whether the items can go to the place: they are not all there, and the user may write to it. */
function isPossible(kind: ChoosePlaceProps['kind'], items: readonly Item[], { space, path }: Opened): boolean {
  const folder = path.at(-1)?.entryId
  if (items.every(item => item.context === space.context && item.folder === folder)) return false
  // To take an item out of its folder needs no right on the space.
  const isTakenOut = kind === 'move' && items.every(({ context }) => context === space.context)
  return folder !== undefined || space.canWrite || isTakenOut
}

/** After a step, the keyboard goes on in the new list; where it is empty, with the action. */
function useFocusAfterStep(shown: unknown) {
  const list = useRef<HTMLDivElement>(null)
  const before = useRef(shown)
  useLayoutEffect(() => {
    if (before.current !== undefined && before.current !== shown) {
      const form = list.current?.closest('form')
      const next =
        list.current?.querySelector<HTMLElement>('li button') ??
        form?.querySelector<HTMLElement>('[type=submit]:not(:disabled)') ??
        form?.querySelector<HTMLElement>('.crumbs button')
      next?.focus()
    }
    before.current = shown
  }, [shown])
  return list
}

type Open = (to: Omit<Opened, 'folders'> | 'spaces') => void

interface PlacePathProps {
  /** `undefined` where the spaces are listed. */
  readonly opened: Opened | undefined
  /** Whether another space can be chosen. */
  readonly canLeave: boolean
  readonly onOpen: Open
}

/** The way from the list of spaces to the opened folder. */
function PlacePath({ opened, canLeave, onOpen }: PlacePathProps) {
  const spaces = canLeave ? [{ id: 'spaces', name: t('contexts'), open: () => onOpen('spaces') }] : []
  const inside = opened
    ? [{ entryId: '', name: opened.space.name }, ...opened.path].map(({ entryId, name }, depth) => ({
        id: entryId,
        name,
        open: () => onOpen({ space: opened.space, path: opened.path.slice(0, depth) }),
      }))
    : []
  const steps = [...spaces, ...inside]
  return (
    <nav class="crumbs" aria-label={t('breadcrumbs')}>
      <ol>
        {steps.map(({ id, name, open }, index) => (
          <li key={id} aria-current={index === steps.length - 1 ? 'location' : undefined}>
            {index === steps.length - 1 ? (
              <strong>
                <Name>{name}</Name>
              </strong>
            ) : (
              <button type="button" class="link" onClick={open}>
                <Name>{name}</Name>
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

const FolderList = ({ opened, onOpen }: { readonly opened: Opened; readonly onOpen: Open }) => (
  <ul class="things folders" aria-label={t('folders')}>
    {opened.folders.map(folder => (
      <li key={folder.entryId}>
        <Icon name="folder" />
        <button
          type="button"
          class="link"
          aria-label={t('openFolder', { name: visible(folder.name) })}
          onClick={() => onOpen({ space: opened.space, path: [...opened.path, folder] })}
        >
          <Name>{folder.name}</Name>
        </button>
      </li>
    ))}
    {opened.folders.length === 0 && <li class="none">{t('foldersNone')}</li>}
  </ul>
)
