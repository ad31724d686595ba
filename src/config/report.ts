import type { Finding } from '../base/finding.ts'
import { containsSecretKey } from '../base/text.ts'
import type { Key } from './core-keys.ts'
import type { Setting } from './setting.ts'

/** Collects all errors and warnings about the settings, so that they are reported together. */
export class Report {
  readonly problems: string[] = []
  readonly warnings: Finding[] = []
  /** Those of the warnings that are about unknown keys and variables: one of them may be the cause of a problem. */
  readonly unknown: string[] = []
  /** Rows without a reliable value; no contradictions are checked for them. */
  readonly failed = new Set<Key>()

  problem(message: string, key?: Key): void {
    this.problems.push(message)
    if (key !== undefined) this.failed.add(key)
  }

  warning(warning: Finding): void {
    this.warnings.push(warning)
  }

  warnOfUnknown(warning: Finding): void {
    this.unknown.push(warning.text)
    this.warning(warning)
  }
}

/** A value as messages show it: on one line, shortened, without passwords. */
export function quote(setting: Setting, text: string): string {
  if (setting.kind.secret && text !== '') return '(not shown)'
  if (containsSecretKey(text)) return '(not shown, because it contains a secret key)'
  // Up to the last `@`: a password may contain characters that should have been escaped.
  const harmless = text.replace(/\/\/.*@/, '//…@')
  return JSON.stringify(harmless.length > 100 ? `${harmless.slice(0, 100)}…` : harmless)
}
