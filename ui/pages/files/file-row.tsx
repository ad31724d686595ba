import { Icon, iconOfItem } from '../../components/icon.tsx'
import { Menu, type MenuItem } from '../../components/menu.tsx'
import { Name } from '../../components/name.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { accessIn } from '../../lib/access.ts'
import { address, part } from '../../lib/base.ts'
import type { Favourites } from '../../lib/favourites.ts'
import { tellItemType } from '../../lib/file-types.ts'
import { folderPath, isNamedByLabel, type Item, itemPath, resourcePath, webAddress } from '../../lib/files.ts'
import { ago, bytes } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { zipAddress } from '../../lib/trash.ts'
import type { Target } from '../../lib/uploads.ts'
import type { Action } from './file-actions.tsx'

import { dropTarget, endDrag, startDrag } from './moving.ts'
import type { Selection } from './selecting.ts'
import { Thumbnail } from './thumbnail.tsx'
import { Whereabouts } from './whereabouts.tsx'

/** Height in pixels; must be the same as in `style/files.css`. */
export const rowHeight = (): number => (matchMedia('(max-width: 44rem)').matches ? 56 : 44)

interface FileRowProps {
  readonly index: number
  /** `undefined` while it is being fetched. */
  readonly item: Item | undefined
  readonly target: Target
  /** Whether it is the row that the Tab key reaches. */
  readonly isActive: boolean
  /** Whether it says where the item is. */
  readonly showsPlace: boolean
  readonly selection: Selection
  /** Whether a tap selects a row, its name included. */
  readonly isSelecting: boolean
  readonly favourites: Favourites
  readonly onOpen: (item: Item) => void
  readonly onAction: (kind: Action['kind'], items: readonly Item[]) => void
  readonly onMoved: () => void
}

const CONTROLS = 'a, button, label, [role=menu]'

export function FileRow(props: FileRowProps) {
  const { index, item, target, isActive, showsPlace, selection, isSelecting, favourites, onOpen, onAction, onMoved } =
    props
  if (!item) return <LoadingRow index={index} />
  const { name, size, modified, isFolder, entryId } = item
  const isSelected = selection.has(item)
  const meta = [size === undefined ? undefined : bytes(size), modified && ago(modified)].filter(
    text => text !== undefined,
  )
  // A search also finds folders of other contexts, which take nothing from this one.
  const takesItems = isFolder && item.canWrite && item.context === target.context
  const dropping = takesItems ? dropTarget({ ...target, folder: entryId }, onMoved) : {}
  const choose = (event: MouseEvent): void => {
    if (event.shiftKey) selection.extendTo(index)
    else selection.toggle(index)
  }
  const pick = (event: MouseEvent): void => {
    if (event.target instanceof Element && event.target.closest(CONTROLS)) return
    if (event.shiftKey || event.ctrlKey || event.metaKey) choose(event)
    else if (isSelecting) selection.toggle(index)
    else selection.only(index)
  }
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-index={index}
      data-folder={takesItems ? entryId : undefined}
      class={isSelected ? 'selected' : undefined}
      draggable
      onClick={pick}
      onContextMenu={event => {
        const button = event.currentTarget.querySelector<HTMLElement>('.menu button[aria-expanded=false]')
        if (!button || (event.target instanceof Element && event.target.closest('[role=menu]'))) return
        event.preventDefault()
        button.click()
      }}
      onDragStart={event => startDrag(event, isSelected ? selection.known : [item])}
      onDragEnd={endDrag}
      {...dropping}
    >
      <td class="check">
        <label>
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={t('selectItem', { name: visible(name) })}
            checked={isSelected}
            onClick={choose}
          />
        </label>
      </td>
      <th scope="row" class="name">
        <Thumbnail item={item} icon={iconOfItem(item)} />
        <span>
          <ItemLink
            item={item}
            isActive={isActive}
            onOpen={onOpen}
            {...(isSelecting ? { onSelect: () => selection.toggle(index) } : {})}
          />
          {showsPlace ? <Whereabouts item={item} /> : <span class="meta">{meta.join(' · ')}</span>}
        </span>
        {favourites.has(item) && (
          <span class="shared-mark" title={t('favourite')}>
            <Icon name="star" />
            <span class="hidden">{t('favourite')}</span>
          </span>
        )}
        <SharedMark item={item} />
      </th>
      <td class="col-format">{tellItemType(item)}</td>
      <td class="col-size">{size === undefined ? '' : bytes(size)}</td>
      <td class="col-modified">{modified ? ago(modified) : ''}</td>
      <td class="more">
        <Menu
          label={t('actionsOn', { name: visible(name) })}
          items={menuOf(item, { isFound: showsPlace, favourites, onAction })}
          isTabStop={false}
        />
      </td>
    </tr>
  )
}

interface ItemLinkProps {
  readonly item: Item
  readonly isActive: boolean
  readonly onOpen: (item: Item) => void
  /** What following it does instead while rows are being selected. */
  readonly onSelect?: () => void
}

/** A folder is opened; of a file the details are shown over the list. */
function ItemLink({ item, isActive, onOpen, onSelect }: ItemLinkProps) {
  const { isFolder, context, entryId, name } = item
  const tabIndex = isActive ? 0 : -1
  return isFolder ? (
    <Link
      to={`contexts/${part(context)}/files/${part(entryId)}`}
      tabIndex={tabIndex}
      {...(onSelect ? { onFollow: onSelect } : {})}
    >
      <Name>{name}</Name>
    </Link>
  ) : (
    <Link to={itemPath(item)} tabIndex={tabIndex} onFollow={onSelect ?? (() => onOpen(item))}>
      <Name>{name}</Name>
    </Link>
  )
}

/** A sign that others have been given access to this item. */
function SharedMark({ item: { info, context, entryId } }: { readonly item: Item }) {
  const { me } = useSession()
  const others = accessIn(info, { base: me.baseUri, context, entry: entryId }).filter(
    ({ principal }) => principal !== me.id,
  )
  if (others.length === 0) return null
  return (
    <span class="shared-mark" title={t('shared')}>
      <Icon name="people" />
      <span class="hidden">{t('shared')}</span>
    </span>
  )
}

interface MenuOptions extends Pick<FileRowProps, 'favourites' | 'onAction'> {
  readonly isFound: boolean
}

function menuOf(item: Item, { isFound, favourites, onAction }: MenuOptions): MenuItem[] {
  const { context, entryId, kind, isFolder, size, isOwner, canWrite, canWriteMetadata } = item
  const pick = (kind: Action['kind']) => () => onAction(kind, [item])
  const web = webAddress(item)
  const canRename = isNamedByLabel(item) ? isOwner : canWriteMetadata
  return [
    { text: t('details'), onPick: pick('details') },
    ...(isFound ? [{ text: t('showInFolder'), onPick: () => navigate(folderPath(item)) }] : []),
    ...(web === undefined ? [] : [{ text: t('openLink'), link: web }]),
    ...(isFolder ? [{ text: t('downloadZip'), download: zipAddress(context, [entryId]) }] : []),
    ...(isFolder || size === undefined
      ? []
      : [{ text: t('download'), download: address(`${resourcePath(item)}?download`) }]),
    {
      text: t(favourites.has(item) ? 'favouriteRemove' : 'favouriteAdd'),
      onPick: () => void favourites.toggle(item).catch(tellFailure),
    },
    ...(isOwner ? [{ text: t('share'), onPick: pick('share') }] : []),
    ...(canRename ? [{ text: t('rename'), onPick: pick('rename') }] : []),
    ...(canWrite ? [{ text: t('move'), onPick: pick('move') }] : []),
    { text: t('copy'), onPick: pick('copy') },
    ...(canWrite && kind === 'file' ? [{ text: t('replaceFile'), onPick: pick('replace') }] : []),
    ...(isOwner ? [{ text: t('delete'), onPick: pick('delete'), isDangerous: true }] : []),
  ]
}

const LoadingRow = ({ index }: { readonly index: number }) => (
  <tr aria-rowindex={index + 2} class="loading">
    <td class="check" />
    <th scope="row" class="name">
      <span class="placeholder" />
      <span class="hidden">{t('loading')}</span>
    </th>
    <td class="col-format" />
    <td class="col-size" />
    <td class="col-modified" />
    <td class="more" />
  </tr>
)
