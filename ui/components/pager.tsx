import { number } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

interface PagerProps {
  readonly step: number
  readonly offset: number
  /** How many are shown now. */
  readonly shown: number
  /** How many there are; without it `hasMore` says whether there are more. */
  readonly results?: number
  readonly hasMore?: boolean
  readonly onOffset: (offset: number) => void
}

/** Which part of a list is shown, and the way to the others. */
export function Pager({ step, offset, shown, results, hasMore, onOffset }: PagerProps) {
  const from = number(Math.min(offset + 1, offset + shown))
  const to = number(offset + shown)
  const goesOn = hasMore ?? offset + shown < (results ?? 0)
  return (
    <nav class="pager" aria-label={t('pager')}>
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
