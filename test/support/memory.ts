import { readFile } from 'node:fs/promises'
import { bucket } from './blobs.ts'

const MIB = 1_048_576

/** The goal for any one input. */
const GOAL = 128_000_000
/** Three parts of 8 MiB on their way to a bucket, and the library that sends them. */
const PARTS = bucket === undefined ? 0 : 48 * MIB
export const MAX_GROWTH = GOAL + PARTS

/** Resident memory of a process in bytes; Linux only. */
export async function residentOf(pid: number): Promise<number> {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}
