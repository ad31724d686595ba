import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Bytes } from './units.ts'

/** A collection of young objects takes some 0.3 ms, in which half a MiB is hashed. */
const COLLECTED_AFTER: Bytes = 4 * 1_048_576

type Collector = (options: { readonly type: 'minor' }) => void

let passed: Bytes = 0
let collect: Collector | undefined

/**
 * Notes that a body or a file has brought so many bytes into this thread, in buffers that are soon dropped. The engine counts their
 * memory towards the size of its heap, but looks for dropped ones only after 32 MiB. By then it has begun to go through the whole
 * heap, for most of the time that the bytes take. Collecting the young objects earlier makes that unnecessary, and the memory
 * is used again while it is in the processor's cache (D34.13).
 */
export function notePassing(bytes: Bytes): void {
  passed += bytes
  if (passed < COLLECTED_AFTER) return
  passed = 0
  collect ??= findCollector()
  collect?.({ type: 'minor' })
}

/**
 * The engine hands out its collector only to a context that is made while this option is set. Absent when another thread has just taken
 * the option back: the next call finds it.
 */
function findCollector(): Collector | undefined {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('globalThis.gc') as Collector | undefined
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
