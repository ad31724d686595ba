const moved = new WeakMap<object, readonly ArrayBuffer[]>()

/**
 * Returns the result of a task so that the bytes in it, alone in their memory, are moved to the thread that waits for it and not
 * copied. They cannot be used here afterwards.
 */
export function withMoved<Result extends object>(result: Result, bytes: Uint8Array<ArrayBuffer>): Result {
  moved.set(result, [bytes.buffer])
  return result
}

/** The memory that {@link withMoved} has noted. */
export const memoryOf = (result: unknown): readonly ArrayBuffer[] =>
  typeof result === 'object' && result !== null ? (moved.get(result) ?? []) : []
