import type { Bytes } from '../../base/units.ts'

/** Sizes are multiples of this. */
const UNIT: Bytes = 16
/** Up to this many units there is one class per unit, above it four classes per doubling. */
const LINEAR = 8
/** Number of classes: the largest holds 16 MiB. */
export const SIZE_CLASSES = 76
export const MAX_SIZE: Bytes = 2 ** 24

/** The class of the smallest blocks that hold this many bytes, up to {@link MAX_SIZE}. */
export function sizeClass(bytes: Bytes): number {
  const last = Math.ceil(bytes / UNIT) - 1
  if (last < LINEAR) return last
  const doubling = 31 - Math.clz32(last)
  return LINEAR + (doubling - 3) * 4 + (last >> (doubling - 2)) - 4
}

/** Bytes of each block of a class. */
export function classBytes(index: number): Bytes {
  if (index < LINEAR) return (index + 1) * UNIT
  const above = index - LINEAR
  return (((above % 4) + 5) << ((above >> 2) + 1)) * UNIT
}
