import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Card } from '../../components/page.tsx'
import { ProblemNotice } from '../../components/page.tsx'
import { type Item, type Listing, type SortColumn } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { type Items, useChange, useItems } from '../../lib/items.ts'
import { t } from '../../lib/language.ts'
import { checkSession, useSession } from '../../lib/session.ts'
import type { Target } from '../../lib/uploads.ts'
import { useVirtualRows } from '../../lib/virtual.ts'
import { FileActions, type Action } from './file-actions.tsx'
import { FileRow, rowHeight } from './file-row.tsx'
import { Selection } from './selection.tsx'

interface FileListProps {
  readonly listing: Listing
  readonly target: Target
  /** A new value fetches the list again. */
  readonly round: number
  /** Whether another text already explains why the list is empty. */
  readonly isEmptyForAReason: boolean
  readonly onSort: (column: SortColumn) => void
  readonly onChanged: () => void
}

/** Files and folders; only the visible rows are fetched and drawn. */
export function FileList({ listing, target, round, isEmptyForAReason, onSort, onChanged }: FileListProps) {
  const { me } = useSession()
  // A guest gets an empty list and no error, so an empty list may mean that the session has ended.
  const items = useItems(listing, () => checkSession(me))
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map())
  const [action, setAction] = useState<Action>()
  const list = useRef<HTMLTableSectionElement>(null)
  const height = rowHeight()
  const { results } = items
  const { indexes, before, after } = useVirtualRows(list, results ?? 0, height)
  const [first = 0] = indexes
  const last = indexes.at(-1) ?? 0
  useLayoutEffect(() => items.need(first, last), [first, last, results])
  useChange(round, items.reload)
  useChange(JSON.stringify(listing), () => setSelected(new Map()))
  const changed = (): void => {
    setSelected(new Map())
    items.reload()
    onChanged()
  }
  const select = (item: Item, isSelected: boolean): void => {
    const next = new Map(selected)
    if (isSelected) next.set(item.entryId, item)
    else next.delete(item.entryId)
    setSelected(next)
  }
  const shown = indexes.flatMap(index => items.at(index) ?? [])
  const keys = keysOf(indexes, items.at)
  /** The item as the list has it now: it may have been loaded again since it was chosen. */
  const present = (item: Item): Item => shown.find(({ entryId }) => entryId === item.entryId) ?? item
  const isAll = shown.length > 0 && shown.every(({ entryId }) => selected.has(entryId))
  const selectAll = (isSelected: boolean): void =>
    setSelected(new Map(isSelected ? allLoaded(items.at, results ?? 0) : []))
  return (
    <Card
      title={t('filesOf')}
      aside={
        <span class="muted small" role="status">
          {results === undefined ? t('loading') : t('countItems', { count: number(results) })}
        </span>
      }
    >
      {items.problem !== undefined && <ProblemNotice error={items.problem} again={items.reload} />}
      {selected.size > 0 && (
        <Selection items={[...selected.values()]} onAction={setAction} onClear={() => setSelected(new Map())} />
      )}
      {results === 0 ? (
        <p class="empty">{t(listing.search !== '' || isEmptyForAReason ? 'nothingFound' : 'filesNone')}</p>
      ) : (
        <table class="files" aria-rowcount={(results ?? 0) + 1} aria-busy={results === undefined}>
          <caption class="hidden">{t('filesOf')}</caption>
          <thead>
            <tr>
              <th scope="col" class="check">
                <input
                  type="checkbox"
                  aria-label={t('selectAll')}
                  checked={isAll}
                  onChange={event => selectAll(event.currentTarget.checked)}
                />
              </th>
              {headings.map(([column, title]) => (
                <SortHeading key={column} column={column} title={t(title)} listing={listing} onSort={onSort} />
              ))}
              <th scope="col" class="more">
                <span class="hidden">{t('actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody ref={list}>
            {before > 0 && <Gap height={before} />}
            {indexes.map((index, row) => (
              <FileRow
                key={keys[row]}
                index={index}
                item={items.at(index)}
                target={target}
                isSelected={selected.has(items.at(index)?.entryId ?? '')}
                selected={selected}
                onSelect={select}
                onAction={setAction}
                onMoved={changed}
              />
            ))}
            {after > 0 && <Gap height={after} />}
          </tbody>
        </table>
      )}
      {action && (
        <FileActions
          action={{ ...action, items: action.items.map(present) }}
          target={target}
          onClose={() => setAction(undefined)}
          onChanged={changed}
        />
      )}
    </Card>
  )
}

/**
 * A row belongs to its file: when the list is loaded again and the file has another place, an open menu and the
 * focus stay with it. While a part of the list is out of date a file may be in it twice.
 */
function keysOf(indexes: readonly number[], at: Items['at']): readonly string[] {
  const keys = new Set<string>()
  for (const index of indexes) {
    const entryId = at(index)?.entryId
    keys.add(entryId === undefined || keys.has(entryId) ? `row ${index}` : entryId)
  }
  return [...keys]
}

function* allLoaded(at: (index: number) => Item | undefined, results: number): Generator<[string, Item]> {
  for (let index = 0; index < results; index++) {
    const item = at(index)
    if (item) yield [item.entryId, item]
  }
}

const headings = [
  ['name', 'fileName'],
  ['format', 'fileType'],
  ['size', 'fileSize'],
  ['modified', 'changed'],
] as const satisfies ReadonlyArray<readonly [SortColumn, string]>

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
