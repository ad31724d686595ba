import { setPriority } from 'node:os'

/** Work at this priority hardly delays requests, and still progresses on a busy machine. */
const NICENESS = 10

/** Lowers the priority of the calling thread. */
export function lowerPriority(): void {
  // On platforms other than Linux this would lower the priority of the whole program.
  if (process.platform === 'linux') setPriority(NICENESS)
}
