import { Choice, Field } from '../../components/field.tsx'
import { t } from '../../lib/language.ts'
import { type Size, sizeUnits } from '../../lib/sizes.ts'

interface SizeFieldsProps {
  readonly label: string
  readonly size: Size
  readonly onSize: (size: Size) => void
  readonly hint?: string
  readonly error?: string | undefined
  readonly required?: boolean
}

/** A size, entered as an amount and a unit. */
export function SizeFields({ label, size, onSize, hint, error, required = false }: SizeFieldsProps) {
  return (
    <div class="size">
      <Field
        label={label}
        value={size.amount}
        onValue={amount => onSize({ ...size, amount })}
        hint={hint}
        error={error}
        required={required}
        autocomplete="off"
      />
      <Choice
        label={t('unit')}
        value={size.unit}
        options={sizeUnits.map(unit => [unit, unit] as const)}
        onValue={text => onSize({ ...size, unit: sizeUnits.find(unit => unit === text) ?? size.unit })}
      />
    </div>
  )
}
