import {
  LastingFailure,
  ServiceError,
  StartupError,
  StorageForbidden,
  StoreDamaged,
  StoreUnavailable,
} from '../base/errors.ts'
import { asksForHelp, print, printError, UsageError, usageOf } from '../core/command.ts'
import { findCommand, nearestCommand } from './commands.ts'
import { translateDiskError } from '../stores/disk.ts'

/** What sysexits.h calls EX_CONFIG. The unit names it in `RestartPreventExitStatus`. */
const LASTING_FAILURE = 78

/** Runs the command that the arguments name, and resolves to the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const [word = 'help', ...rest] = args
  const name = aliases.get(word) ?? word
  const command = await findCommand(name)
  if (!command) {
    const near = nearestCommand(name)
    const hint = near === undefined ? '' : ` Did you mean "${near}"?`
    printError(`stowage: there is no command "${name}".${hint} \`stowage help\` lists all commands.`)
    return 2
  }
  if (asksForHelp(rest)) {
    print(`${usageOf(command, rest)}\n\n${command.summary}`)
    return 0
  }
  try {
    return await command.run(rest)
  } catch (error) {
    if (error instanceof UsageError) {
      printError(`stowage ${name}: ${error.message}\n${usageOf(command, rest)}`)
      return 2
    }
    if (error instanceof StartupError) {
      printError(`stowage: ${error.message}`)
      return statusOf(name, error)
    }
    const explanation = explainFailure(error)
    if (explanation === undefined) throw error
    printError(`stowage: ${explanation}`)
    return statusOf(name, translateDiskError(error))
  }
}

const statusOf = (command: string, error: unknown): number =>
  command === 'serve' && (error instanceof LastingFailure || error instanceof StoreDamaged) ? LASTING_FAILURE : 1

const aliases: ReadonlyMap<string, string> = new Map([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
])

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission. The user that the service runs as needs it, and runs the command',
  EPERM: 'this user has no permission. The user that the service runs as needs it, and runs the command',
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
  // The store of blobs says only in the cause which path was forbidden, or that the disk failed.
  const original = error instanceof StorageForbidden || error instanceof StoreUnavailable ? error.cause : error
  const reason = reasons[original instanceof Error && 'code' in original ? String(original.code) : '']
  const path =
    original instanceof Error && 'path' in original && typeof original.path === 'string' ? original.path : undefined
  if (reason !== undefined) return `${path ?? 'a file'}: ${reason}.`
  const translated = translateDiskError(error)
  if (translated instanceof ServiceError)
    return path === undefined ? translated.message : `${path}: ${translated.message}`
  return undefined
}
