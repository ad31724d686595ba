import { useLayoutEffect, useRef } from 'preact/hooks'
import { Dialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { Await } from '../../components/page.tsx'
import { TabPanels } from '../../components/tab-panels.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { address } from '../../lib/base.ts'
import { useFavourites } from '../../lib/favourites.ts'
import { type Item, loadItem, resourcePath } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { hasVersions } from '../../lib/versions.ts'
import { FileContent } from './file-content.tsx'
import { ItemAccess } from './item-access.tsx'
import { ItemActivity } from './item-activity.tsx'
import { ItemDetails } from './item-details.tsx'
import { ItemMetadata } from './item-metadata.tsx'
import { ItemVersions } from './item-versions.tsx'
import { LinkView } from './link-view.tsx'
import { TextView } from './text-view.tsx'

/** To the files before and after, where there are any. */
export interface Steps {
  readonly back: (() => void) | undefined
  readonly on: (() => void) | undefined
}

interface ItemPanelProps {
  readonly context: string
  readonly entryId: string
  /** The tab that is shown; the first one unless it is known. */
  readonly tab: string
  readonly onTab: (tab: string) => void
  readonly steps?: Steps
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** A file as far as the browser can show it, and all about it: details, access, metadata, activity. */
export function ItemPanel({ context, entryId, tab, onTab, steps, onClose, onChanged }: ItemPanelProps) {
  const [loaded, again] = useLoaded(signal => loadItem(context, entryId, signal), [context, entryId])
  const item = loaded.state === 'ready' ? loaded.value : undefined
  const changed = (): void => {
    again()
    onChanged()
  }
  const panel = useRef<HTMLDivElement>(null)
  useArrows(panel, steps)
  return (
    <Dialog title={visible(item?.name ?? t('loading'))} size="panel" closesBeside onClose={onClose}>
      <div class="panel-tools buttons">
        {steps && (
          <>
            <button
              type="button"
              class="button quiet small only-icon"
              aria-label={t('previousFile')}
              disabled={!steps.back}
              onClick={steps.back}
            >
              <Icon name="back" />
            </button>
            <button
              type="button"
              class="button quiet small only-icon"
              aria-label={t('nextFile')}
              disabled={!steps.on}
              onClick={steps.on}
            >
              <Icon name="forward" />
            </button>
          </>
        )}
        {item && <FavouriteButton item={item} />}
        {item?.size !== undefined && (
          <a
            class="button quiet small"
            href={address(`${resourcePath(item)}?download`)}
            download
            aria-label={t('download')}
          >
            <Icon name="download" />
            <span class="text">{t('download')}</span>
          </a>
        )}
        <button type="button" class="button quiet small only-icon" aria-label={t('close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="panel-body" ref={panel}>
        <Await loaded={loaded} again={again}>
          {item => <Parts key={item.entryId} item={item} tab={tab} onTab={onTab} onChanged={changed} />}
        </Await>
      </div>
    </Dialog>
  )
}

/** Marks the item, or no longer, to find it on the first page. */
function FavouriteButton({ item }: { readonly item: Item }) {
  const { me } = useSession()
  const favourites = useFavourites(me)
  return (
    <button
      type="button"
      class="button quiet small only-icon star"
      aria-label={t('favourite')}
      aria-pressed={favourites.has(item)}
      onClick={() => void favourites.toggle(item).catch(tellFailure)}
    >
      <Icon name="star" />
    </button>
  )
}

interface PartsProps {
  readonly item: Item
  readonly tab: string
  readonly onTab: (tab: string) => void
  readonly onChanged: () => void
}

function Parts({ item, tab, onTab, onChanged }: PartsProps) {
  const { name, isOwner } = item
  const tabs = [
    ['details', t('details')],
    ...(isOwner ? [['access', t('accessTab')] as const] : []),
    ...(item.metadata ? [['metadata', t('metadata')] as const] : []),
    ...(item.metadata && hasVersions(item) ? [['versions', t('versions')] as const] : []),
    ['activity', t('activity')],
  ] as const
  const current = tabs.find(([id]) => id === tab)?.[0] ?? 'details'
  return (
    <>
      <div class="panel-view" role="region" aria-label={t('preview')} tabIndex={0}>
        <View item={item} onChanged={onChanged} />
      </div>
      <TabPanels label={visible(name)} tabs={tabs} current={current} onTab={id => onTab(id === 'details' ? '' : id)}>
        {current === 'details' && <ItemDetails item={item} onChanged={onChanged} />}
        {current === 'access' && <ItemAccess item={item} onChanged={onChanged} />}
        {current === 'metadata' && <ItemMetadata item={item} onChanged={onChanged} />}
        {current === 'versions' && <ItemVersions item={item} onChanged={onChanged} />}
        {current === 'activity' && <ItemActivity item={item} />}
      </TabPanels>
    </>
  )
}

/** What an item is or contains, as far as a browser can show it. */
function View({ item, onChanged }: { readonly item: Item; readonly onChanged: () => void }) {
  const { kind, name, size, mediaType } = item
  switch (kind) {
    case 'folder':
      return (
        <span class="large-icon">
          <Icon name="folder" />
        </span>
      )
    case 'link':
      return <LinkView item={item} onChanged={onChanged} />
    case 'text':
      return <TextView item={item} onChanged={onChanged} />
    case 'file':
      return <FileContent source={address(resourcePath(item))} name={name} size={size} mediaType={mediaType} />
  }
}

const OWN_KEYS = 'input, textarea, select, audio, video, [role=tab], pre, table, iframe'

/** Arrow keys go to the file before or after, except where they have another meaning. */
function useArrows(panel: { readonly current: HTMLElement | null }, steps: Steps | undefined): void {
  useLayoutEffect(() => {
    const dialog = panel.current?.closest('dialog')
    const press = (event: KeyboardEvent): void => {
      if (!(event.target instanceof Element) || event.target.closest(OWN_KEYS)) return
      // Another dialog may be open above this one.
      if (event.target.closest('dialog') !== dialog) return
      const step = { ArrowLeft: steps?.back, ArrowRight: steps?.on }[event.key]
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return
      event.preventDefault()
      step()
    }
    dialog?.addEventListener('keydown', press)
    return () => dialog?.removeEventListener('keydown', press)
  })
}
