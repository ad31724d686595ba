import { move, transferableSymbol, valueSymbol } from 'piscina'

/**
 * Returns the result of a task so that the bytes in it, alone in their memory, are moved to the thread that waits for it and not
 * copied. They cannot be used here afterwards.
 */
export function withMoved<Result>(result: Result, bytes: Uint8Array): Result {
  return move({ [transferableSymbol]: [bytes.buffer], [valueSymbol]: result } as never) as Result
}
