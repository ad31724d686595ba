import { SearchField } from '../../components/search-field.tsx'
import { t } from '../../lib/language.ts'

interface SearchLineProps {
  readonly search: string
  /** Whether only the files of this context are searched. */
  readonly isHere: boolean
  readonly onSearch: (search: string) => void
  readonly onHere: (isHere: boolean) => void
}

/** Searches names, titles, descriptions and tags of all files that the person can read. */
export function SearchLine({ search, isHere, onSearch, onHere }: SearchLineProps) {
  return (
    <div class="search-line" role="search">
      <SearchField label={t('searchFiles')} value={search} onValue={onSearch} hasPlaceholder />
      {search !== '' && (
        <label class="check small">
          <input type="checkbox" checked={isHere} onChange={event => onHere(event.currentTarget.checked)} />
          {t('searchHere')}
        </label>
      )}
    </div>
  )
}
