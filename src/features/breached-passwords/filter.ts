import { fileURLToPath } from 'node:url'
import { resolve } from 'node:path'
import { StartupError } from '../../base/errors.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
import { SortedHashes } from './sorted-hashes.ts'

/** A list this small lacks most breached passwords. */
const SMALL = 1_000_000
/** The setting for the list that comes with the program. */
const INCLUDED = 'included'

/** @param place the path of a list, or `included` @throws {StartupError} when the list cannot be used */
export const openFilter = (place: string): SortedHashes =>
  SortedHashes.open(
    place === INCLUDED ? fileURLToPath(import.meta.resolve('#lists/common-passwords.filter')) : resolve(place),
  )

/** Reads the whole list, which takes a few seconds for the full download. */
export function checkFilter(place: string): CheckResult[] {
  try {
    const list = openFilter(place)
    try {
      list.verify()
    } finally {
      list.close()
    }
    const { count } = list
    if (place === INCLUDED)
      return [ok('breached-included', 'breached passwords: {count} in the included list', { count })]
    if (count >= SMALL) return [ok('breached-list', 'breached passwords: {count} in {place}', { count, place })]
    return [
      warning('breached-list-small', 'breached passwords: only {count} in {place}, which lacks most of them', {
        count,
        place,
      }),
    ]
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return [problem('breached-list-unusable', 'breached passwords: {reason}', { reason: error.message })]
  }
}
