import { number } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

interface PagerProps {
  /** Title of the list, where a page has several. */
  readonly of?: string
  readonly step: number
  readonly offset: number
  /** Number of items shown now. */
  readonly shown: number
  /** Number of all items; if absent, `hasMore` tells whether there are more. */
  readonly results?: number
  readonly hasMore?: boolean
  readonly onOffset: (offset: number) => void
}

/** Shows which part of a list is visible, with links to the other parts. */
export function Pager({ of, step, offset, shown, results, hasMore, onOffset }: PagerProps) {
  const from = number(Math.min(offset + 1, offset + shown))
  const to = number(offset + shown)
  const goesOn = hasMore ?? offset + shown < (results ?? 0)
  return (
    <nav class="pager" aria-label={of === undefined ? t('pager') : `${t('pager')}: ${of}`}>
      <span class="muted small" role="status">
        {results === undefined ? t('pageShown', { from, to }) : t('pageOf', { from, to, results: number(results) })}
      </span>
      {(offset > 0 || goesOn) && (
        <div class="buttons">
          <Button
            kind="quiet"
            size="small"
            disabled={offset === 0}
            onPress={() => onOffset(Math.max(0, offset - step))}
          >
            {t('pageBack')}
          </Button>
          <Button kind="quiet" size="small" disabled={!goesOn} onPress={() => onOffset(offset + step)}>
            {t('pageOn')}
          </Button>
        </div>
      )}
    </nav>
  )
}
