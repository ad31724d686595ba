import { hash, verify } from '@node-rs/argon2'
import type { Argon2Cost } from '../../src/accounts/hash-thread.ts'
import { type Hasher, HashThreads } from '../../src/accounts/passwords.ts'

/** Parameters of argon2id hashes that would exhaust the machine, each beyond one limit. */
export const absurdParameters = [
  'm=4294967295,t=1,p=1',
  'm=1048577,t=1,p=1',
  'm=19456,t=4294967295,p=1',
  'm=19456,t=65,p=1',
  'm=19456,t=2,p=16777215',
  'm=99999999999999,t=1,p=1',
]

/** Computes hashes without threads of its own: for cheap hashes, starting a thread takes much longer than the hash. */
export class OwnHasher implements Hasher {
  async hash(password: string, { memory, iterations, parallelism }: Argon2Cost): Promise<string> {
    return await hash(password, { memoryCost: memory, timeCost: iterations, parallelism })
  }

  async verify(password: string, stored: string): Promise<boolean> {
    return await verify(stored, password).catch(() => false)
  }

  async close(): Promise<void> {}
}

/** Computes hashes without threads that stay, and records the parameters of those that it verifies. */
export class RecordingHasher implements Hasher {
  readonly verified: string[] = []

  async hash(password: string, cost: Argon2Cost): Promise<string> {
    return await withThreads(threads => threads.hash(password, cost))
  }

  async verify(password: string, stored: string): Promise<boolean> {
    this.verified.push(stored.split('$')[3] ?? '')
    return await withThreads(threads => threads.verify(password, stored))
  }

  async close(): Promise<void> {}
}

async function withThreads<T>(work: (threads: HashThreads) => Promise<T>): Promise<T> {
  const threads = new HashThreads(1)
  try {
    return await work(threads)
  } finally {
    await threads.close()
  }
}
