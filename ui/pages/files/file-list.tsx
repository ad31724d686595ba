import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ProblemNotice } from '../../components/page.tsx'
import { keyOf } from '../../lib/everything.ts'
import { useFavourites } from '../../lib/favourites.ts'
import type { Item, Listing, SortColumn } from '../../lib/files.ts'
import { type Items, useChange, useItems } from '../../lib/items.ts'
import { t } from '../../lib/language.ts'
import { lazy } from '../../lib/lazy.tsx'
import { onOperationOver } from '../../lib/operations.ts'
import { keptScroll } from '../../lib/router.tsx'
import { checkSession, useSession } from '../../lib/session.ts'
import type { Target } from '../../lib/uploads.ts'
import { useVirtualRows } from '../../lib/virtual.ts'
import { type Action, FileActions, prefetchActions } from './file-actions.tsx'
import { FileRow, rowHeight } from './file-row.tsx'
import { FilesBar } from './files-bar.tsx'
import { itemAt } from './item-address.ts'
import type { Steps } from './item-panel.tsx'
import { useRowKeys } from './row-keys.ts'
import { type Selection, useSelection } from './selecting.ts'

/** Its code is not needed for the list. */
export const ItemPanel = lazy(async () => (await import('./about-items.ts')).ItemPanel, 'dialog')

function prefetch(): void {
  ItemPanel.prefetch()
  prefetchActions()
}

interface FileListProps {
  readonly listing: Listing
  readonly target: Target
  /** A new value fetches the list again. */
  readonly round: number
  /** Stands in place of an empty list. */
  readonly none: string
  /** The item whose details are shown, as in the address of the page; empty for none. */
  readonly opened: { readonly context: string; readonly item: string; readonly tab: string }
  readonly onSort: (column: SortColumn) => void
  readonly onOpen: (item: Item, tab?: string) => void
  readonly onTab: (tab: string) => void
  readonly onClose: () => void
  readonly onChanged: () => void
  /** The first line of the bar above the list. */
  readonly head: ComponentChildren
  /** Stands above the list. */
  readonly above?: ComponentChildren
  /** Stands below the list in a narrow window. */
  readonly below?: ComponentChildren
  /** Actions in the second line. */
  readonly children?: ComponentChildren
}

/** Files and folders with a bar above them; only the visible rows are fetched and drawn. */
export function FileList(props: FileListProps) {
  const {
    listing,
    target,
    round,
    none,
    opened,
    onSort,
    onOpen,
    onTab,
    onClose,
    onChanged,
    head,
    above,
    below,
    children,
  } = props
  const { me } = useSession()
  // A guest gets an empty list and no error, so an empty list may mean that the session has ended.
  const items = useItems(listing, () => checkSession(me))
  const selection = useSelection(listing, items)
  const [isSelecting, setSelecting] = useState(false)
  const [action, setAction] = useState<Action>()
  const list = useRef<HTMLTableSectionElement>(null)
  const height = rowHeight()
  const { results } = items
  const { indexes, before, after } = useVirtualRows(list, results ?? 0, height)
  const [first = 0] = indexes
  const last = indexes.at(-1) ?? 0
  useLayoutEffect(() => items.need(first, last), [first, last, results])
  useChange(round, items.reload)
  useScrollBack(results)
  useEffect(() =>
    onOperationOver(() => {
      items.reload()
      onChanged()
    }),
  )
  const changed = (): void => {
    selection.clear()
    setSelecting(false)
    items.reload()
    onChanged()
  }
  const act = (kind: Action['kind'], items: readonly Item[], chosen?: Action['chosen']): void => {
    const [item] = items
    if (item && kind === 'details') onOpen(item)
    else if (item && kind === 'share' && items.length === 1 && !chosen) onOpen(item, 'access')
    else if (item) setAction({ kind, items, chosen })
  }
  const favourites = useFavourites(me)
  const keyboard = useRowKeys({ list, results: results ?? 0, height, at: items.at, selection, onAction: act })
  const shown = indexes.flatMap(index => items.at(index) ?? [])
  const keys = keysOf(indexes, items.at)
  /** A search also finds items of other contexts, which stay in theirs. */
  const targetFor = ({ context }: Item): Target =>
    context === target.context ? target : { context, contextUri: me.baseUri + context, folder: undefined }
  /** The item as the list has it now: it may have been loaded again since it was chosen. */
  const present = (item: Item): Item => shown.find(one => keyOf(one) === keyOf(item)) ?? item
  return (
    <>
      <FilesBar
        head={head}
        results={results}
        selection={selection}
        isSelecting={isSelecting}
        onSelecting={setSelecting}
        onAction={({ kind, items, chosen }) => act(kind, items, chosen)}
      >
        {children}
      </FilesBar>
      {above}
      {items.problem !== undefined && <ProblemNotice error={items.problem} again={items.reload} />}
      {results === 0 ? (
        <p class="empty">{none}</p>
      ) : (
        <table
          // Who is at a row may open it next, or do something with it; the first load stays small.
          onPointerEnter={prefetch}
          onFocusIn={prefetch}
          class={isSelecting || selection.count > 0 ? 'files selecting' : 'files'}
          role="grid"
          aria-multiselectable="true"
          aria-rowcount={(results ?? 0) + 1}
          aria-busy={results === undefined}
        >
          <caption class="hidden">{t('filesOf')}</caption>
          <Head listing={listing} selection={selection} onSort={onSort} />
          <tbody ref={list} onKeyDown={keyboard.onKeyDown} onKeyUp={keyboard.onKeyUp} onFocusIn={keyboard.onFocus}>
            {before > 0 && <Gap height={before} />}
            {indexes.map((index, row) => (
              <FileRow
                key={keys[row]}
                index={index}
                item={items.at(index)}
                target={target}
                isActive={index === keyboard.active}
                showsPlace={listing.search !== ''}
                selection={selection}
                isSelecting={isSelecting}
                favourites={favourites}
                onOpen={onOpen}
                onAction={act}
                onMoved={changed}
              />
            ))}
            {after > 0 && <Gap height={after} />}
          </tbody>
        </table>
      )}
      {/* After the rows, which would move it. */}
      {below && results !== undefined && <div class="below-files">{below}</div>}
      {opened.item !== '' && (
        <ItemPanel
          {...itemAt(opened.item, opened.context)}
          tab={opened.tab}
          onTab={onTab}
          steps={stepsFrom(items, itemAt(opened.item, opened.context), item => onOpen(item, opened.tab))}
          onClose={onClose}
          onChanged={changed}
        />
      )}
      {action && (
        <FileActions
          action={{ ...action, items: action.items.map(present) }}
          target={action.items[0] ? targetFor(action.items[0]) : target}
          onClose={() => setAction(undefined)}
          onChanged={changed}
        />
      )}
    </>
  )
}

/** Steps to the files before and after the one that is shown. */
function stepsFrom(
  { at, results = 0 }: Items,
  shown: Pick<Item, 'context' | 'entryId'>,
  go: (item: Item) => void,
): Steps {
  const find = (start: number, step: number): Item | undefined => {
    for (let index = start; index >= 0 && index < results; index += step) {
      const item = at(index)
      if (!item?.isFolder) return item
    }
    return undefined
  }
  for (let index = 0; index < results; index++) {
    const item = at(index)
    if (!item || keyOf(item) !== keyOf(shown)) continue
    const [before, after] = [find(index - 1, -1), find(index + 1, 1)]
    return { back: before && (() => go(before)), on: after && (() => go(after)) }
  }
  return { back: undefined, on: undefined }
}

/** Somebody who comes back to a long list finds it where they left it. */
function useScrollBack(results: number | undefined): void {
  const wanted = useRef(keptScroll())
  useLayoutEffect(() => {
    if (results === undefined || wanted.current === 0) return
    scrollTo(0, wanted.current)
    wanted.current = 0
  }, [results])
}

/**
 * A row belongs to its file: when the list is loaded again and the file has another place, an open menu and the
 * focus stay with it. While a part of the list is out of date a file may be in it twice.
 */
function keysOf(indexes: readonly number[], at: Items['at']): readonly string[] {
  const keys = new Set<string>()
  for (const index of indexes) {
    const item = at(index)
    const key = item === undefined ? undefined : keyOf(item)
    keys.add(key === undefined || keys.has(key) ? `row ${index}` : key)
  }
  return [...keys]
}

const headings = [
  ['name', 'fileName'],
  ['format', 'fileType'],
  ['size', 'fileSize'],
  ['modified', 'changed'],
] as const satisfies ReadonlyArray<readonly [SortColumn, string]>

interface HeadProps {
  readonly listing: Listing
  readonly selection: Selection
  readonly onSort: (column: SortColumn) => void
}

const Head = ({ listing, selection, onSort }: HeadProps) => (
  <thead>
    <tr>
      <th scope="col" class="check">
        <label>
          <input
            type="checkbox"
            aria-label={t('selectAll')}
            checked={selection.isAll}
            onChange={event => (event.currentTarget.checked ? selection.all() : selection.clear())}
          />
        </label>
      </th>
      {headings.map(([column, title]) => (
        <SortHeading key={column} column={column} title={t(title)} listing={listing} onSort={onSort} />
      ))}
      <th scope="col" class="more">
        <span class="hidden">{t('actions')}</span>
      </th>
    </tr>
  </thead>
)

interface SortHeadingProps {
  readonly column: SortColumn
  readonly title: string
  readonly listing: Listing
  readonly onSort: (column: SortColumn) => void
}

function SortHeading({ column, title, listing, onSort }: SortHeadingProps) {
  const isSorted = listing.sort === column
  const order = listing.descends ? 'descending' : 'ascending'
  return (
    <th scope="col" class={`col-${column}`} aria-sort={isSorted ? order : undefined}>
      <button type="button" onClick={() => onSort(column)}>
        {title}
        <span aria-hidden="true">{isSorted ? (listing.descends ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  )
}

/** Space for rows that are not drawn. */
const Gap = ({ height }: { readonly height: number }) => (
  <tr class="gap" aria-hidden="true">
    <td style={{ height: `${height}px` }} />
  </tr>
)
