import { NoSuchKey, type S3Client } from '@aws-sdk/client-s3'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { StoreUnavailable } from '../../src/base/errors.ts'
import { readObject } from '../../src/stores/s3/s3-reader.ts'
import { eventually, turns } from '../support/waiting.ts'

const object = { Bucket: 'b', Key: 'k' }
const TIMEOUT = 1000

interface Answer {
  readonly bytes: Readable
  readonly size: number | undefined
}

/** A client that gives one answer after the other, and the ranges it was asked for. */
function clientOf(...answers: ReadonlyArray<Answer | Error>) {
  const left = [...answers]
  const asked: (string | undefined)[] = []
  const client = {
    send: async ({ input }: { input: { Bucket: string; Key: string; Range?: string } }) => {
      assert.deepEqual({ Bucket: input.Bucket, Key: input.Key }, object)
      asked.push(input.Range)
      const answer = left.shift() ?? assert.fail('asked once more')
      if (answer instanceof Error) throw answer
      return { Body: answer.bytes, ContentLength: answer.size }
    },
  }
  return { client: client as unknown as S3Client, asked }
}

const whole = (text: string, size = text.length): Answer => ({
  bytes: Readable.from(text ? [Buffer.from(text)] : []),
  size,
})
/** Some bytes, and then neither more nor an end. */
function silent(text: string, size: number) {
  const bytes = new PassThrough()
  if (text) bytes.write(text)
  return { bytes, size }
}
const textOf = async (stream: Readable): Promise<string> => Buffer.concat(await stream.toArray()).toString()

async function causeOf(reading: Promise<string>): Promise<string> {
  const error: unknown = await reading.then(assert.fail, (reason: unknown) => reason)
  assert.ok(error instanceof StoreUnavailable)
  assert.equal(error.message, 'The store of the files cannot be reached at the moment.')
  return (error.cause as Error).message
}

test('an object is asked for as a whole, or with the range that is wanted', async () => {
  for (const [range, wanted] of [
    [undefined, undefined],
    [{ first: 0, last: 2 }, 'bytes=0-2'],
    [{ first: 5, last: 7 }, 'bytes=5-7'],
  ] as const) {
    const { client, asked } = clientOf(whole('abc'))
    assert.equal(await textOf(await readObject(client, object, range, TIMEOUT)), 'abc')
    assert.deepEqual(asked, [wanted])
  }
})

test('a server that does not say how long an object is cannot be used, and its connection ends', async () => {
  const { bytes } = silent('abc', 3)
  const { client } = clientOf({ bytes, size: undefined })
  assert.equal(
    await causeOf(readObject(client, object, undefined, TIMEOUT).then(textOf)),
    'the server does not say how long the object is',
  )
  assert.equal(bytes.destroyed, true)
})

test('a connection that ends early is continued at the same position', async () => {
  const { client, asked } = clientOf(whole('abc', 6), whole('d', 3), whole('ef', 2))
  assert.equal(await textOf(await readObject(client, object, { first: 10, last: 15 }, TIMEOUT)), 'abcdef')
  assert.deepEqual(asked, ['bytes=10-15', 'bytes=13-15', 'bytes=14-15'])
})

test('a store that breaks three times in a row without a byte is unavailable; a byte in between counts', async () => {
  const broken = (): Answer => whole('', 3)
  const few = clientOf(whole('a', 3), broken(), whole('b', 2), broken(), whole('c', 1))
  assert.equal(await textOf(await readObject(few.client, object, undefined, TIMEOUT)), 'abc')
  const many = clientOf(whole('a', 3), broken(), broken())
  const reading = textOf(await readObject(many.client, object, undefined, TIMEOUT))
  assert.equal(await causeOf(reading), 'the object ended after 1 of 3 bytes')
  assert.deepEqual(many.asked, [undefined, 'bytes=1-2', 'bytes=1-2'])
})

const refusal = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

test('a server that cannot be reached in the middle of an object is asked again, as at a restart', async () => {
  const { client, asked } = clientOf(whole('ab', 3), refusal(), refusal(), whole('c', 1))
  assert.equal(await textOf(await readObject(client, object, undefined, 60_000)), 'abc')
  assert.deepEqual(asked, [undefined, 'bytes=2-2', 'bytes=2-2', 'bytes=2-2'])
})

test('a server that cannot be reached for the timeout is unavailable, and at the beginning of an object at once', async () => {
  const refusing = clientOf(whole('ab', 3), ...Array.from({ length: 100 }, refusal))
  const reading = textOf(await readObject(refusing.client, object, undefined, 500))
  assert.equal(await causeOf(reading), 'connect ECONNREFUSED')
  assert.ok(refusing.asked.length > 2)
  const first = clientOf(refusal())
  assert.equal(await causeOf(readObject(first.client, object, undefined, 60_000).then(textOf)), 'connect ECONNREFUSED')
})

test('nobody is asked again for a reader that has left, or for an object that is gone', async () => {
  const { client, asked } = clientOf(whole('ab', 3), refusal())
  const stream = await readObject(client, object, undefined, 60_000)
  stream.resume()
  await eventually('the server has refused', () => asked.length === 2)
  stream.destroy()
  await once(stream, 'close')
  await turns()
  assert.equal(asked.length, 2)

  const gone = new NoSuchKey({ message: 'gone', $metadata: {} })
  const missing = clientOf(whole('ab', 3), gone)
  await assert.rejects(textOf(await readObject(missing.client, object, undefined, 60_000)), gone)
})

test('a connection that is silent for the timeout is given up, and another one continues', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const first = silent('ab', 3)
  const { client, asked } = clientOf(first, whole('c', 1))
  const reading = textOf(await readObject(client, object, undefined, TIMEOUT))
  // The bytes that arrive start the time anew.
  t.mock.timers.tick(TIMEOUT - 1)
  await turns()
  t.mock.timers.tick(TIMEOUT - 1)
  assert.equal(first.bytes.destroyed, false)
  t.mock.timers.tick(1)
  assert.equal(first.bytes.destroyed, true)
  assert.equal(await reading, 'abc')
  assert.deepEqual(asked, [undefined, 'bytes=2-2'])
})

test('a store whose connections all stay silent is unavailable, with the reason', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answers = [silent('', 3), silent('', 3), silent('', 3)]
  const { client } = clientOf(...answers)
  const reading = causeOf(textOf(await readObject(client, object, undefined, TIMEOUT)))
  for (const { bytes } of answers) {
    await turns()
    t.mock.timers.tick(TIMEOUT)
    assert.equal(bytes.destroyed, true)
  }
  assert.equal(await reading, 'no data arrived for 1000 ms')
})

test('a reader that leaves, even before its first read, ends the connection', async () => {
  for (const reads of [false, true]) {
    const bytes = Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(65_536)))
    const stream = await readObject(clientOf({ bytes, size: 6_553_600 }).client, object, undefined, TIMEOUT)
    if (reads) for await (const chunk of stream) if (chunk) break
    stream.destroy()
    await eventually('the connection has ended', () => bytes.destroyed)
  }
})

test('a reader that leaves while the store is silent ends the connection at once, and nothing is asked again', async () => {
  const first = silent('ab', 3)
  const { client, asked } = clientOf(first)
  const stream = await readObject(client, object, undefined, 60_000)
  const reading = stream.toArray().catch(() => 'ended')
  await turns()
  stream.destroy()
  await eventually('the connection has ended', () => first.bytes.destroyed)
  assert.equal(await reading, 'ended')
  await turns()
  assert.deepEqual(asked, [undefined])
})
