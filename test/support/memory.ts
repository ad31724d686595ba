import { readFile } from 'node:fs/promises'
import { bucket } from './blobs.ts'
import { threads } from './threads.ts'

const MIB = 1_048_576

/** The engine lets its nursery grow by so much before it collects. */
const NURSERY = 32
/** Three parts of 8 MiB on their way to a bucket, and the library that sends them. */
const PARTS = bucket === undefined ? 0 : 48
/** Each further thread that serves has a heap of its own, whose nursery (12 MiB) fills. */
const NURSERIES = (threads - 1) * 12
export const MAX_GROWTH = (64 + NURSERY + NURSERIES + PARTS) * MIB

/** Resident memory of a process in bytes; Linux only. */
export async function residentOf(pid: number): Promise<number> {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}
