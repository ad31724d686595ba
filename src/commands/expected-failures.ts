import { ServiceError } from '../base/errors.ts'
import { translateDiskError } from '../stores/disk.ts'

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
