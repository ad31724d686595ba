/** A line of `doctor`: something in order, something that may become a problem, or a problem. */
export interface Diagnosis {
  readonly level: 'ok' | 'warning' | 'problem'
  readonly text: string
}

export const ok = (text: string): Diagnosis => ({ level: 'ok', text })
export const warning = (text: string): Diagnosis => ({ level: 'warning', text })
export const problem = (text: string): Diagnosis => ({ level: 'problem', text })

/** The line that `doctor` prints. */
export const lineOf = ({ level, text }: Diagnosis): string => (level === 'ok' ? text : `${level}: ${text}`)

/** The exit status of `doctor`. */
export const statusOf = (found: readonly Diagnosis[]): number =>
  found.some(({ level }) => level === 'problem') ? 1 : 0
