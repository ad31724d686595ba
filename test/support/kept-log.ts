import { createLog, type Log } from '../../src/base/log.ts'

/** A line of a log without its time; of an error only the message. */
interface Line extends Readonly<Record<string, unknown>> {
  readonly level: string
  readonly msg: string
}

/** A log whose lines a test reads. `said` takes those since its last call: level, message and facts of each. */
export function keptLog(level: Parameters<typeof createLog>[0] = 'info') {
  const lines: Line[] = []
  const write = (text: string): void => {
    const { time: _, err, ...line } = JSON.parse(text) as Line & { readonly err?: { readonly message: string } }
    lines.push(err === undefined ? line : { ...line, err: err.message })
  }
  const log: Log = createLog(level, { write })
  const said = () => lines.splice(0).map(({ level, msg, ...facts }) => [level, msg, facts] as const)
  return { log, lines, said }
}
