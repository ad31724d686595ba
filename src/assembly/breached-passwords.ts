import { fileURLToPath } from 'node:url'
import { resolve } from 'node:path'
import { StartupError } from '../base/errors.ts'
import type { Settings } from '../config/settings.ts'
import { SortedHashes } from '../stores/sorted-hashes.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'

/** A list this small lacks most breached passwords. */
const SMALL = 1_000_000

/** `undefined` where passwords known from leaks are accepted. @throws {StartupError} when the list cannot be used */
export function openBreachedPasswords(settings: Settings): SortedHashes | undefined {
  const place = settings['service.auth.password.rule.breached']
  return place === 'off' ? undefined : SortedHashes.open(pathOf(place))
}

const pathOf = (place: string): string =>
  place === 'included' ? fileURLToPath(import.meta.resolve('#lists/common-passwords.filter')) : resolve(place)

/** Reads the whole list, which takes a few seconds for the full download. */
export function checkBreachedPasswords(settings: Settings): CheckResult[] {
  try {
    const list = openBreachedPasswords(settings)
    if (!list) return []
    try {
      list.verify()
    } finally {
      list.close()
    }
    const text = `breached passwords: ${list.count} in ${settings['service.auth.password.rule.breached']}`
    return [
      list.count < SMALL && settings['service.auth.password.rule.breached'] !== 'included' ? warning(text) : ok(text),
    ]
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return [problem(`breached passwords: ${error.message}`)]
  }
}
