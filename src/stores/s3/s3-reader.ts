import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from '../../base/errors.ts'
import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { ByteRange } from '../blob-store.ts'
import { filesUnavailable, s3Call } from './s3-client.ts'
import type { S3Object } from './s3-parts.ts'

/** How often in a row a connection may break without a byte in between. */
const ATTEMPTS = 3
/** Pause between two attempts to reach a server. */
const PAUSE: Milliseconds = 250

interface Body {
  readonly bytes: Readable
  readonly size: number
}

/**
 * The bytes of an object. If a connection breaks, or is silent for longer than `timeout` while the reader waits, a new connection continues
 * at the same position. If the server cannot be reached, this is repeated for the same time.
 */
export async function readObject(
  client: S3Client,
  object: S3Object,
  range: ByteRange | undefined,
  timeout: Milliseconds,
): Promise<Readable> {
  const ask = async (first: number, last?: number): Promise<Body> => {
    const Range = last === undefined ? undefined : `bytes=${first}-${last}`
    const { Body, ContentLength } = await s3Call(client.send(new GetObjectCommand({ ...object, Range })))
    const bytes = Body as Readable
    if (ContentLength !== undefined) return { bytes, size: ContentLength }
    bytes.destroy()
    throw filesUnavailable(new Error('the server does not say how long the object is'))
  }
  const start = range?.first ?? 0
  let body = await ask(start, range?.last)
  const end = start + body.size

  /** A server that restarts refuses connections for a while. */
  const askAgain = async (first: number): Promise<Body> => {
    const until = realSystem.monotonic() + timeout
    for (;;) {
      try {
        return await ask(first, end - 1)
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || realSystem.monotonic() >= until) throw error
        await pause(PAUSE)
        if (stream.destroyed) throw error
      }
    }
  }

  async function* bytes(): AsyncGenerator<Uint8Array> {
    let position = start
    let failures = 0
    for (;;) {
      try {
        for await (const chunk of impatient(body.bytes, timeout)) {
          position += chunk.length
          failures = 0
          yield chunk
        }
        if (position !== end) throw new Error(`the object ended after ${position - start} of ${end - start} bytes`)
        return
      } catch (error) {
        if (stream.destroyed) throw error
        if (++failures === ATTEMPTS) throw filesUnavailable(error)
      }
      body = await askAgain(position)
    }
  }
  const stream = new PassThrough({
    // When a reader leaves, the generator has not begun, or waits for a store that may be silent: it cannot end the connection.
    destroy(error, done) {
      body.bytes.destroy()
      done(error)
    },
  })
  pipeline(bytes(), stream, () => {})
  return stream
}

/** Passes chunks on, and destroys the source when an awaited chunk does not arrive in time. */
async function* impatient(source: Readable, timeout: Milliseconds): AsyncGenerator<Uint8Array> {
  const giveUp = (): void => void source.destroy(new Error(`no data arrived for ${timeout} ms`))
  let timer = setTimeout(giveUp, timeout)
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      clearTimeout(timer)
      yield chunk
      timer = setTimeout(giveUp, timeout)
    }
  } finally {
    clearTimeout(timer)
  }
}
