import { StartupError, ServiceError } from '../base/errors.ts'
import { printError, UsageError } from './command.ts'
import { findCommand, usage } from './commands.ts'
import { translateDiskError } from '../stores/disk.ts'

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

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission. Run the command as the user that the service runs as',
  EPERM: 'this user has no permission. Run the command as the user that the service runs as',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  EBUSY: 'another program uses it',
  EIO: 'the disk reports an error. Look at the log of the system',
}

/**
 * One line about a failure that an operator can do something about: a full disk, missing permissions, an engine that does
 * not answer. `undefined` for everything else, which is a bug and deserves its stack trace.
 */
export function explainFailure(error: unknown): string | undefined {
  const translated = translateDiskError(error)
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined
  if (translated instanceof ServiceError)
    return path === undefined ? translated.message : `${path}: ${translated.message}`
  const reason = reasons[error instanceof Error && 'code' in error ? String(error.code) : '']
  return reason === undefined ? undefined : `${path ?? 'a file'}: ${reason}.`
}
