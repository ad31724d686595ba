import { t } from '../../lib/language.ts'

interface SearchLineProps {
  readonly search: string
  /** The address of its feed. */
  readonly feed: string
  /** Whether only the files of the context of the page are searched; absent if it has none. */
  readonly isHere?: boolean
  readonly onHere?: (isHere: boolean) => void
}

/** What else one can do with a search: search in one space only, and follow it. Nothing while there is no search. */
export function SearchLine({ search, feed, isHere, onHere }: SearchLineProps) {
  if (search === '') return null
  return (
    <div class="search-line">
      {onHere && (
        <label class="check small">
          <input type="checkbox" checked={isHere} onChange={event => onHere(event.currentTarget.checked)} />
          {t('searchHere')}
        </label>
      )}
      <a class="button quiet small" href={feed} type="application/atom+xml">
        {t('followSearch')}
      </a>
    </div>
  )
}
