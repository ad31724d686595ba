/** Units that a quota can be typed in, the same that the settings take, in powers of 1024. */
export const sizeUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const
export type SizeUnit = (typeof sizeUnits)[number]

export interface Size {
  readonly amount: string
  readonly unit: SizeUnit
}

const factor = (unit: SizeUnit): number => 1024 ** sizeUnits.indexOf(unit)

/** `1.5`, `1,5`, or with a unit of its own that goes before the chosen one: `500M`, `2 GiB`. */
const typed = /^(\d{1,16})(?:[.,](\d{1,6}))?\s*([kmgt]?)(?:i?b)?$/i

/** Bytes, or `undefined` for what is no size or more than can be counted exactly. */
export function toBytes({ amount, unit }: Size): number | undefined {
  const [, whole, fraction = '0', letter = ''] = typed.exec(amount.trim()) ?? []
  if (whole === undefined) return undefined
  const own = sizeUnits.find(known => letter !== '' && known.startsWith(letter.toUpperCase())) ?? unit
  const size = Math.round(Number(`${whole}.${fraction}`) * factor(own))
  return Number.isSafeInteger(size) ? size : undefined
}

/** The largest unit that needs no fraction. */
export function fromBytes(size: number): Size {
  const unit = size === 0 ? 'MiB' : (sizeUnits.filter(known => size % factor(known) === 0).at(-1) ?? 'B')
  return { amount: String(size / factor(unit)), unit }
}
