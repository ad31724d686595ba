import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { changeQuery, currentPath, navigate, onNavigate } from '../lib/router.tsx'
import { SearchField } from './search-field.tsx'

/** The page of a search that was not begun on a list of files. */
export const SEARCH = 'search'

/** Lists of files show what is found themselves, while somebody types. */
const showsFound = (): boolean => /^(?:search|contexts\/[^/]+\/files(?:\/[^/]+)?)$/.test(currentPath())

const searchOf = (): string => (showsFound() ? (new URLSearchParams(location.search).get(SEARCH) ?? '') : '')

const TYPING = 'input:not([type=checkbox]), select, textarea, [contenteditable], dialog *'

/** The search field of every page. The key / leads to it. */
export function HeaderSearch() {
  const form = useRef<HTMLFormElement>(null)
  const [search, setSearch] = useState(searchOf)
  useLayoutEffect(() => onNavigate(() => setSearch(searchOf())), [])
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (event.target instanceof Element && event.target.matches(TYPING)) return
      form.current?.querySelector('input')?.focus()
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  const type = (text: string): void => {
    setSearch(text)
    if (showsFound()) changeQuery({ [SEARCH]: text })
  }
  const send = (): void => {
    const text = form.current?.querySelector('input')?.value.trim() ?? ''
    if (showsFound()) type(text)
    else if (text !== '') navigate(`${SEARCH}?${new URLSearchParams({ [SEARCH]: text }).toString()}`)
  }
  return (
    <form
      ref={form}
      class="header-search"
      role="search"
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
    >
      <SearchField label={t('searchFiles')} value={search} onValue={type} hasPlaceholder />
    </form>
  )
}
