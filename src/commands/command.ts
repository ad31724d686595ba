import { parseArgs, type ParseArgsConfig } from 'node:util'

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

/** The options and words of a command. @throws {UsageError} for others */
export function parseArguments<const Options extends ParseArgsConfig['options'] & {}>(
  args: readonly string[],
  options: Options,
  allowPositionals = true,
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

export const printError = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
