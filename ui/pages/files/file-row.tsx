import { Icon, iconOf } from '../../components/icon.tsx'
import { Menu, type MenuItem } from '../../components/menu.tsx'
import { Name } from '../../components/name.tsx'
import { address, part } from '../../lib/base.ts'
import { tellType } from '../../lib/file-types.ts'
import { type Item, resourcePath } from '../../lib/files.ts'
import { ago, bytes } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { zipAddress } from '../../lib/trash.ts'
import type { Target } from '../../lib/uploads.ts'
import type { Action } from './file-actions.tsx'
import { dropTarget, endDrag, startDrag } from './moving.ts'

/** Height in pixels; must be the same as in `style/files.css`. */
export const rowHeight = (): number => (matchMedia('(max-width: 44rem)').matches ? 60 : 52)

interface FileRowProps {
  readonly index: number
  /** `undefined` while it is being fetched. */
  readonly item: Item | undefined
  readonly target: Target
  readonly isSelected: boolean
  readonly selected: ReadonlyMap<string, Item>
  readonly onSelect: (item: Item, isSelected: boolean) => void
  readonly onAction: (action: Action) => void
  readonly onMoved: () => void
}

export function FileRow(props: FileRowProps) {
  const { index, item, target, isSelected, selected, onSelect, onAction, onMoved } = props
  if (!item) return <LoadingRow index={index} />
  const { name, size, mediaType, modified, isFolder, entryId, context } = item
  const meta = [size === undefined ? undefined : bytes(size), modified && ago(modified)].filter(
    text => text !== undefined,
  )
  const dropping = isFolder ? dropTarget({ ...target, folder: entryId }, onMoved) : {}
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      class={isSelected ? 'selected' : undefined}
      draggable
      onDragStart={event => startDrag(event, isSelected ? [...selected.values()] : [item])}
      onDragEnd={endDrag}
      {...dropping}
    >
      <td class="check">
        <input
          type="checkbox"
          aria-label={t('selectItem', { name: visible(name) })}
          checked={isSelected}
          onChange={event => onSelect(item, event.currentTarget.checked)}
        />
      </td>
      <th scope="row" class="name">
        <Icon name={isFolder ? 'folder' : iconOf(item.mediaType)} />
        <span>
          {isFolder ? (
            <Link to={`contexts/${part(context)}/files/${part(entryId)}`}>
              <Name>{name}</Name>
            </Link>
          ) : (
            <button type="button" class="link" onClick={() => onAction({ kind: 'preview', items: [item] })}>
              <Name>{name}</Name>
            </button>
          )}
          <span class="meta">{meta.join(' · ')}</span>
        </span>
      </th>
      <td class="col-format">{isFolder ? t('folder') : tellType(mediaType, name)}</td>
      <td class="col-size">{size === undefined ? '–' : bytes(size)}</td>
      <td class="col-modified">{modified ? ago(modified) : '–'}</td>
      <td class="more">
        <Menu label={t('actionsOn', { name: visible(name) })} items={menuOf(item, onAction)} />
      </td>
    </tr>
  )
}

function menuOf(item: Item, onAction: (action: Action) => void): MenuItem[] {
  const { context, entryId, isFolder, size, isOwner, canWrite, canWriteMetadata } = item
  const pick = (kind: Action['kind']) => () => onAction({ kind, items: [item] })
  const canRename = isFolder ? canWriteMetadata : isOwner
  return [
    ...(isFolder ? [{ text: t('downloadZip'), download: zipAddress(context, [entryId]) }] : []),
    ...(isFolder || size === undefined
      ? []
      : [
          { text: t('preview'), onPick: pick('preview') },
          { text: t('download'), download: address(`${resourcePath(item)}?download`) },
        ]),
    ...(canRename ? [{ text: t('rename'), onPick: pick('rename') }] : []),
    ...(canWriteMetadata ? [{ text: t('editDetails'), onPick: pick('details') }] : []),
    ...(canWrite && !isFolder ? [{ text: t('replaceFile'), onPick: pick('replace') }] : []),
    ...(canWrite ? [{ text: t('move'), onPick: pick('move') }] : []),
    ...(isOwner
      ? [{ text: t('share'), onPick: () => navigate(`contexts/${part(context)}/sharing/${part(entryId)}`) }]
      : []),
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
