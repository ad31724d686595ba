const SQLITE_BUSY = 5

/**
 * Whether SQLite gave up waiting for a lock that another program holds. The low byte of its code is the kind of error, the rest refines it.
 */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
