import { finding, type Finding, type ValuesFor } from '../base/finding.ts'

/** A line of `doctor`: something in order, something that may become a problem, or a problem. */
export interface CheckResult extends Finding {
  readonly level: 'ok' | 'warning' | 'problem'
}

/** Makes a line of this level from its code, its English text and the values in it. */
const lineAt =
  (level: CheckResult['level']) =>
  <const T extends string>(code: string, text: T, ...values: ValuesFor<T>): CheckResult => ({
    level,
    ...finding(code, text, ...values),
  })

export const ok = lineAt('ok')
export const warning = lineAt('warning')
export const problem = lineAt('problem')

/** The line that `doctor` prints. */
export const lineOf = ({ level, text }: CheckResult): string => (level === 'ok' ? text : `${level}: ${text}`)

/** The exit status of `doctor`. */
export const statusOf = (found: readonly CheckResult[]): number =>
  found.some(({ level }) => level === 'problem') ? 1 : 0
