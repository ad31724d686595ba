import { Overloaded, ServiceError, StorageFull, StorageReadOnly, StoreDamaged } from '../base/errors.ts'

/** Codes of SQLite; the low byte of an extended code is the kind of error. */
const SQLITE_READONLY = 8
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_NOTADB = 26
/** The index of the write-ahead log could not grow: the disk is full. */
const SQLITE_IOERR_SHMSIZE = 4874

/**
 * Converts an error of the file system or of SQLite into one that describes what an operator has to do. Returns all other
 * errors unchanged.
 */
export function translateDiskError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError) return error
  if ('errcode' in error) return translateSqlite(error, Number(error.errcode))
  // Errors during the reading of rows contain only the engine's message.
  if ('code' in error && error.code === 'ERR_SQLITE_ERROR') return translateSqlite(error, codeOfMessage(error.message))
  switch ('code' in error ? error.code : undefined) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new StorageFull({ cause: error })
    case 'EROFS':
      return new StorageReadOnly({ cause: error })
    case 'EMFILE':
    case 'ENFILE':
      return new Overloaded('The service has too many files open.', 5, 'overloaded', { cause: error })
    default:
      return error
  }
}

const messages: ReadonlyArray<readonly [RegExp, number]> = [
  [/disk image is malformed/, SQLITE_CORRUPT],
  [/file is not a database/, SQLITE_NOTADB],
  [/database or disk is full/, SQLITE_FULL],
  [/attempt to write a readonly database/, SQLITE_READONLY],
]

const codeOfMessage = (message: string): number => messages.find(([text]) => text.test(message))?.[1] ?? 0

function translateSqlite(cause: Error, code: number): unknown {
  if (code === SQLITE_IOERR_SHMSIZE) return new StorageFull({ cause })
  switch (code & 0xff) {
    case SQLITE_FULL:
      return new StorageFull({ cause })
    case SQLITE_READONLY:
      return new StorageReadOnly({ cause })
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return new StoreDamaged({ cause })
    default:
      return cause
  }
}

/** Settles like `work`, with errors converted by {@link translateDiskError}. */
export async function withDiskErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw translateDiskError(error)
  }
}
