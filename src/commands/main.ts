import { StartupError } from '../base/errors.ts'
import { printError, UsageError } from './command.ts'
import { explainFailure } from './expected-failures.ts'
import { findCommand, usage } from './commands.ts'

/** Runs the command that the arguments name, and resolves to the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const [name = 'help', ...rest] = args.map(arg => aliases.get(arg) ?? arg)
  const command = await findCommand(name)
  if (!command) {
    printError(`stowage: there is no command "${name}"\n\n${await usage()}`)
    return 2
  }
  try {
    return await command.run(rest)
  } catch (error) {
    if (error instanceof UsageError) {
      printError(`stowage ${name}: ${error.message}\nusage: stowage ${name} ${command.usage}`)
      return 2
    }
    if (error instanceof StartupError) {
      printError(`stowage: ${error.message}`)
      return 1
    }
    const explanation = explainFailure(error)
    if (explanation === undefined) throw error
    printError(`stowage: ${explanation}`)
    return 1
  }
}

const aliases: ReadonlyMap<string, string> = new Map([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
])
