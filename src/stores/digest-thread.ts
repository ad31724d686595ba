import { createHash, type Hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { notePassing } from '../base/passing-bytes.ts'
import type { Bytes } from '../base/units.ts'

/** What the thread is sent. `number` names a digest; the memory of the pieces is moved. */
export type DigestMessage =
  | { readonly number: number; readonly pieces: readonly Uint8Array[] }
  | { readonly number: number; readonly isEnded: true }
  | { readonly number: number; readonly isDropped: true }

export interface DigestResult {
  readonly number: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
}

/** Its only number counts the bytes that have been hashed, modulo 2^32. */
const hashed = workerData as Int32Array
const digests = new Map<number, Hash>()

parentPort?.on('message', (message: DigestMessage) => {
  const { number } = message
  if ('pieces' in message) {
    let size = 0
    for (const piece of message.pieces) size += addPiece(number, piece)
    Atomics.add(hashed, 0, size)
    Atomics.notify(hashed, 0)
  } else {
    if ('isEnded' in message) answer({ number, sha256: hashOf(number).digest('hex') })
    digests.delete(number)
  }
})

function addPiece(number: number, piece: Uint8Array): Bytes {
  hashOf(number).update(piece)
  notePassing(piece.byteLength)
  return piece.byteLength
}

function hashOf(number: number): Hash {
  const hash = digests.get(number) ?? createHash('sha256')
  digests.set(number, hash)
  return hash
}

const answer = (result: DigestResult): void => parentPort?.postMessage(result)
