import { setPriority } from 'node:os'

/** Requests hardly notice what runs at this priority; on a busy machine it still gets on. */
const NICENESS = 10

/** Lowers the priority of the thread that calls it. */
export function lowerPriority(): void {
  // Elsewhere than on Linux it would be that of the whole program.
  if (process.platform === 'linux') setPriority(NICENESS)
}
