import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { Menu, type MenuItem } from '../../components/menu.tsx'
import { tellFailure } from '../../components/toast.tsx'
import type { Item } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { MAX_ZIP, zipAddress } from '../../lib/trash.ts'
import type { Action } from './file-actions.tsx'
import { HelpSheet, useShortcuts } from './help-sheet.tsx'
import type { Selection } from './selecting.ts'

interface FilesBarProps {
  /** Where the person is, and the search field. */
  readonly head: ComponentChildren
  /** Number of items; `undefined` while it is not known. */
  readonly results: number | undefined
  readonly selection: Selection
  readonly isSelecting: boolean
  readonly onSelecting: (isSelecting: boolean) => void
  readonly onAction: (action: Action) => void
  /** What one can do without a selection. */
  readonly children: ComponentChildren
}

/**
 * The bar above a list of files, which stays when the list is scrolled. Its second line changes for a selection, so nothing below it
 * moves.
 */
export function FilesBar({ head, results, selection, isSelecting, onSelecting, onAction, children }: FilesBarProps) {
  const bar = useRef<HTMLElement>(null)
  const [isHelping, setHelping] = useState(false)
  useHeights(bar)
  useShortcuts(() => setHelping(true))
  return (
    <header class="files-bar" ref={bar}>
      <div class="strip where">{head}</div>
      {selection.count > 0 || isSelecting ? (
        <SelectionLine
          selection={selection}
          results={results ?? 0}
          onAction={onAction}
          onClose={() => {
            selection.clear()
            onSelecting(false)
          }}
        />
      ) : (
        <div class="strip">
          {children}
          <span class="muted small count" role="status">
            {results === undefined ? t('loading') : t('countItems', { count: number(results) })}
          </span>
          <button type="button" class="button quiet small select" onClick={() => onSelecting(true)}>
            {t('select')}
          </button>
          <button
            type="button"
            class="button quiet small only-icon help"
            aria-label={t('shortcuts')}
            aria-keyshortcuts="?"
            onClick={() => setHelping(true)}
          >
            <Icon name="help" />
          </button>
        </div>
      )}
      {isHelping && <HelpSheet onClose={() => setHelping(false)} />}
    </header>
  )
}

/** Tells the styles how high what stays above the list is. */
function useHeights(bar: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const upper = document.querySelector<HTMLElement>('.upper')
    const { style } = document.documentElement
    const measure = (): void => {
      const isSticky = upper !== null && getComputedStyle(upper).position === 'sticky'
      style.setProperty('--upper', `${isSticky ? upper.offsetHeight : 0}px`)
      style.setProperty('--bar', `${bar.current?.offsetHeight ?? 0}px`)
      // What gets the focus is scrolled to below the bar and the heads of the columns.
      style.scrollPaddingBlockStart = 'calc(var(--upper) + var(--bar) + 3rem)'
    }
    const observer = new ResizeObserver(measure)
    for (const element of [upper, bar.current]) if (element) observer.observe(element)
    measure()
    return () => {
      observer.disconnect()
      style.scrollPaddingBlockStart = ''
    }
  }, [])
}

interface SelectionLineProps {
  readonly selection: Selection
  readonly results: number
  readonly onAction: (action: Action) => void
  readonly onClose: () => void
}

/** What one can do with all selected items. */
function SelectionLine({ selection, results, onAction, onClose }: SelectionLineProps) {
  const { count, known } = selection
  const act = async (kind: Action['kind']): Promise<void> => {
    const { chosen } = selection
    try {
      // Of more items than can be loaded, those that are known stand for all.
      if (chosen && known.length > 0) onAction({ kind, items: known, chosen: { ...chosen, count } })
      else onAction({ kind, items: await selection.resolve() })
    } catch (error) {
      tellFailure(error)
    }
  }
  const pick = (kind: Action['kind']) => () => void act(kind)
  const every = (may: (item: Item) => boolean): boolean => count > 0 && known.every(may)
  const [first] = known
  const areTogether = known.every(({ context }) => context === first?.context)
  const zip =
    first && areTogether && count === known.length && count <= MAX_ZIP
      ? zipAddress(
          first.context,
          known.map(({ entryId }) => entryId),
        )
      : undefined
  // On a phone these are in a menu.
  const further: readonly MenuItem[] = [
    ...(first && areTogether ? [{ text: t('copy'), onPick: pick('copy') }] : []),
    ...(every(({ isOwner }) => isOwner) ? [{ text: t('share'), onPick: pick('share') }] : []),
    ...(every(({ canWriteMetadata }) => canWriteMetadata) ? [{ text: t('tag'), onPick: pick('tag') }] : []),
    ...(zip === undefined ? [] : [{ text: t('downloadZip'), download: zip }]),
  ]
  return (
    <div class="strip selection" role="region" aria-label={t('selection')}>
      <strong role="status">{t('selected', { count: number(count) })}</strong>
      {every(({ canWrite }) => canWrite) && areTogether && (
        <Button kind="quiet" size="small" onPress={pick('move')}>
          {t('move')}
        </Button>
      )}
      {further.map(({ text, onPick, download }) =>
        download === undefined ? (
          <button key={text} type="button" class="button quiet small further" onClick={onPick}>
            {text}
          </button>
        ) : (
          <a key={text} class="button quiet small further" href={download} aria-label={text} download>
            {t('download')}
          </a>
        ),
      )}
      {every(({ isOwner }) => isOwner) && (
        <Button kind="quiet danger" size="small" onPress={pick('delete')}>
          {t('delete')}
        </Button>
      )}
      {further.length > 0 && (
        <div class="further-menu">
          <Menu label={t('moreActions')} items={further} />
        </div>
      )}
      {count < results && (
        <Button kind="quiet" size="small" onPress={selection.all}>
          {t('selectAllOf', { count: number(results) })}
        </Button>
      )}
      <button type="button" class="button quiet small only-icon" aria-label={t('clearSelection')} onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  )
}
