/** A verb of the command line. */
export interface Command {
  readonly name: string
  /** What may follow the name. */
  readonly usage: string
  readonly summary: string
  /** Resolves to the exit status. Prints results to standard output. */
  readonly run: (args: readonly string[]) => Promise<number>
}

/** The arguments make no sense; the message is followed by how to call the command. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

export const printError = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
