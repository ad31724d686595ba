import { randomInt } from 'node:crypto'

/** With PROOFS=long a proof takes minutes and begins at a random seed; otherwise it is short and always the same. */
export const isLong = process.env['PROOFS'] === 'long'

/** The seed of a proof. A long proof draws one and prints it, so that `-- --seed` can repeat the run. */
export function proofSeed(): number {
  if (!isLong) return 2030
  const seed = randomInt(1_000_000)
  process.stderr.write(`seed ${seed}\n`)
  return seed
}
