/** Units for quotas, in powers of 1024; the settings have the same ones. */
export const sizeUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const
export type SizeUnit = (typeof sizeUnits)[number]

export type Size = { readonly amount: string; readonly unit: SizeUnit }

const factor = (unit: SizeUnit): number => 1024 ** sizeUnits.indexOf(unit)

/** `1.5`, `1,5`, or a number with a unit of its own, which overrides the chosen one: `500M`, `2 GiB`. */
const typed = /^(\d{1,16})(?:[.,](\d{1,6}))?\s*([kmgt]?)(?:i?b)?$/i

/** The size in bytes; `undefined` if the text is no size or the number cannot be represented exactly. */
export function toBytes({ amount, unit }: Size): number | undefined {
  const [, whole, fraction = '0', letter = ''] = typed.exec(amount.trim()) ?? []
  if (whole === undefined) return undefined
  const own = sizeUnits.find(known => letter !== '' && known.startsWith(letter.toUpperCase())) ?? unit
  const size = Math.round(Number(`${whole}.${fraction}`) * factor(own))
  return Number.isSafeInteger(size) ? size : undefined
}

/** Uses the largest unit that needs no fraction. */
export function fromBytes(size: number): Size {
  const unit = size === 0 ? 'MiB' : (sizeUnits.filter(known => size % factor(known) === 0).at(-1) ?? 'B')
  return { amount: String(size / factor(unit)), unit }
}
