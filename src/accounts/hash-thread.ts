import { setPriority } from 'node:os'
import { hashSync, verifySync } from '@node-rs/argon2'

/** Cost of a hash; at least OWASP's m=19456, t=2, p=1 (D5.1). */
export interface Argon2Cost {
  /** KiB. */
  readonly memory: number
  readonly iterations: number
  readonly parallelism: number
}

export type HashTask =
  | { readonly password: string; readonly cost: Argon2Cost }
  | { readonly password: string; readonly stored: string }

/** Enough that requests hardly notice a flood of logins; not so much that on a busy machine nobody can sign in. */
const NICENESS = 10

// On Linux this is the priority of one thread, this one; elsewhere it would be that of the whole program.
if (process.platform === 'linux') setPriority(NICENESS)

/** Hashes or verifies one password, on a thread of its own. */
export default function work(task: HashTask): string | boolean {
  if ('cost' in task) {
    const { memory, iterations, parallelism } = task.cost
    // The library's default algorithm is argon2id.
    return hashSync(task.password, { memoryCost: memory, timeCost: iterations, parallelism })
  }
  try {
    return verifySync(task.stored, task.password)
  } catch (error) {
    // The library's word for costs below the least, or a salt or hash of an impossible length.
    if (error instanceof Error && 'code' in error && error.code === 'InvalidArg') return false
    throw error
  }
}
