import { t } from '../lib/language.ts'
import { Button } from './button.tsx'
import type { Column } from './table.tsx'

/** The column with the buttons that remove a row. @param labelOf what screen readers say of the button; rows without it have none */
export const removeColumn = <Row,>(
  labelOf: (row: Row) => string | undefined,
  remove: (row: Row) => unknown,
): Column<Row> => ({
  title: t('actions'),
  kind: 'actions',
  cell: row => {
    const label = labelOf(row)
    return (
      label !== undefined && (
        <Button kind="quiet danger" size="small" label={label} onPress={() => remove(row)}>
          {t('remove')}
        </Button>
      )
    )
  },
})
