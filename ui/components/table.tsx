import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly title: string
  /** Stands in the head instead of the title. */
  readonly head?: ComponentChildren
  readonly cell: (row: Row) => ComponentChildren
  /** `whole`: its words are never broken, as those of a time. */
  readonly kind?: 'number' | 'wide' | 'whole' | 'actions'
}

interface TableProps<Row> {
  /** Description of the table for screen readers; not visible. */
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Stands in place of a table without rows. */
  readonly none?: string
}

/** Rows with a heading for each column. On a phone each row is a block whose cells are labelled. */
export function Table<Row>({ caption, columns, rows, keyOf, none }: TableProps<Row>) {
  if (none !== undefined && rows.length === 0) return <p class="empty">{none}</p>
  return (
    <table class="table">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, head = title, kind }) => (
            <th key={title} scope="col" class={kind}>
              {kind === 'actions' ? <span class="hidden">{title}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, kind, cell }) => (
              <td key={title} class={kind} data-label={kind === 'actions' ? undefined : title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
