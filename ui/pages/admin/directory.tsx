import type { ComponentType } from 'preact'
import { Button } from '../../components/button.tsx'
import { Choice } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Await } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { loadPortion, PAGE } from '../../lib/portions.ts'
import { useQuery, wholeNumber } from '../../lib/query.ts'

interface DirectoryProps<T> {
  readonly title: string
  /** The list of `management/` to show. */
  readonly kind: 'users' | 'groups' | 'contexts'
  readonly columns: ReadonlyArray<Column<T>>
  readonly keyOf: (row: T) => string
  /** Available orders and their labels, the default first. */
  readonly orders?: ReadonlyArray<readonly [string, string]>
  /** Label of the button that opens the dialog to create one. */
  readonly make: string
  readonly Maker: ComponentType<{ readonly onClose: () => void }>
}

/**
 * A list of all users, groups or contexts with search, paging and a button to create one. The query is part
 * of the address.
 */
export function Directory<T>({ title, kind, columns, keyOf, orders, make, Maker }: DirectoryProps<T>) {
  const [{ query, sort, from, create }, change] = useQuery({
    query: '',
    sort: orders?.[0]?.[0] ?? '',
    from: '0',
    create: '',
  })
  const offset = wholeNumber(from)
  const order = orders === undefined ? {} : { sort }
  const [loaded, again] = useLoaded(
    signal => loadPortion<typeof kind, T>(kind, { query, offset, ...order }, signal),
    [query, sort, offset],
  )
  return (
    <section class="card" aria-label={title}>
      <div class="line">
        <SearchField label={t('searchName')} value={query} onValue={query => change({ query, from: '0' })} />
        {orders && (
          <Choice label={t('order')} value={sort} options={orders} onValue={sort => change({ sort, from: '0' })} />
        )}
        <Button onPress={() => change({ create: 'yes' })}>
          <Icon name="plus" />
          {make}
        </Button>
      </div>
      <Await loaded={loaded} again={again}>
        {({ items, results }) => (
          <>
            <Table none={t('nothingFound')} caption={title} columns={columns} rows={items} keyOf={keyOf} />
            <Pager
              step={PAGE}
              offset={offset}
              shown={items.length}
              results={results}
              onOffset={next => change({ from: String(next) })}
            />
          </>
        )}
      </Await>
      {create !== '' && <Maker onClose={() => change({ create: '' })} />}
    </section>
  )
}
