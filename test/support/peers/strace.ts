import { spawnSync } from 'node:child_process'
import type { Peer } from './peer.ts'

/** Records the system calls of a program. It needs the right to trace, which some containers take away. */
export const strace: Peer = {
  name: 'strace',
  available: () => spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0,
}
