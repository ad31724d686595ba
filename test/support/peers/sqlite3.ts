import { spawnSync } from 'node:child_process'
import type { Peer } from './peer.ts'

/** The program with which an operator looks into a database. */
export const sqlite3: Peer = {
  name: 'sqlite3',
  available: () => spawnSync('sqlite3', ['-version']).status === 0,
}
