/** A line of `doctor`: something in order, something that may become a problem, or a problem. */
export interface CheckResult {
  readonly level: 'ok' | 'warning' | 'problem'
  readonly text: string
}

export const ok = (text: string): CheckResult => ({ level: 'ok', text })
export const warning = (text: string): CheckResult => ({ level: 'warning', text })
export const problem = (text: string): CheckResult => ({ level: 'problem', text })

/** The line that `doctor` prints. */
export const lineOf = ({ level, text }: CheckResult): string => (level === 'ok' ? text : `${level}: ${text}`)

/** The exit status of `doctor`. */
export const statusOf = (found: readonly CheckResult[]): number =>
  found.some(({ level }) => level === 'problem') ? 1 : 0
