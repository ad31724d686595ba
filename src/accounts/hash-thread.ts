import { hashSync, verifySync } from '@node-rs/argon2'
import { serveTasks } from '../workers/serve-tasks.ts'

/** Cost of a hash. */
export interface Argon2Cost {
  /** KiB. */
  readonly memory: number
  readonly iterations: number
  readonly parallelism: number
}

export type HashTask =
  | { readonly password: string; readonly cost: Argon2Cost }
  | { readonly password: string; readonly stored: string }

serveTasks(work)

/** Hashes or verifies one password. */
function work(task: HashTask): string | boolean {
  if ('cost' in task) {
    const { memory, iterations, parallelism } = task.cost
    // The library's default algorithm is argon2id.
    return hashSync(task.password, { memoryCost: memory, timeCost: iterations, parallelism })
  }
  try {
    return verifySync(task.stored, task.password)
  } catch (error) {
    // The error code of the library for a cost below its minimum, or for a salt or hash of invalid length.
    if (error instanceof Error && 'code' in error && error.code === 'InvalidArg') return false
    throw error
  }
}
