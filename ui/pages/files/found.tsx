import { Page } from '../../components/page.tsx'
import { SEARCH } from '../../components/header-search.tsx'
import { columns, type Item, type Listing, searchFeed, type SortColumn } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { useQuery } from '../../lib/query.ts'
import type { Target } from '../../lib/uploads.ts'
import { FileList } from './file-list.tsx'
import { addressOf } from './item-address.ts'
import { SearchLine } from './search-line.tsx'

const usual = { [SEARCH]: '', sort: 'name', order: 'asc', item: '', tab: '' }

/** What is found belongs to contexts of its own. */
const nowhere: Target = { context: '', contextUri: '', folder: undefined }

/** What a search finds in all contexts. */
export function Found() {
  const [{ search, sort, order, item, tab }, change] = useQuery(usual)
  const column: SortColumn = columns.find(column => column === sort) ?? 'name'
  const listing: Listing = {
    ...nowhere,
    search,
    isEverywhere: true,
    sort: column,
    descends: order === 'desc',
  }
  const open = (found: Pick<Item, 'context' | 'entryId'>, tab = ''): void =>
    change({ item: addressOf(found), tab }, item === '')
  return (
    <Page
      title={t('searchNow')}
      class="files-page"
      content={heading =>
        search.trim() === '' ? (
          <>
            <header>{heading}</header>
            <p class="empty">{t('searchEmpty')}</p>
          </>
        ) : (
          <FileList
            listing={listing}
            target={nowhere}
            round={0}
            none={t('searchNone', { search })}
            opened={{ context: '', item, tab }}
            onSort={next => change({ sort: next, order: next === column && order === 'asc' ? 'desc' : 'asc' })}
            onOpen={open}
            onTab={tab => change({ tab })}
            onClose={() => change({ item: '', tab: '' })}
            onChanged={() => undefined}
            head={
              <>
                <div class="crumbs">{heading}</div>
                <SearchLine search={search} feed={searchFeed(listing)} />
              </>
            }
          />
        )
      }
    />
  )
}
