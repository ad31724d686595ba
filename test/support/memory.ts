import { readFile } from 'node:fs/promises'

const MIB = 1_048_576

/** The engine of Node 24 lets its nursery grow by some 24 MiB more before it collects, whatever is done. */
export const MOST_GROWTH = (Number(process.versions.node.split('.')[0]) >= 24 ? 96 : 64) * MIB

/** Resident memory of a process in bytes; Linux only. */
export async function residentOf(pid: number): Promise<number> {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}
