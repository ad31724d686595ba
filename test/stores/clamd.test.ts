import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Clamd, type ClamdAddress, ScannerFailure } from '../../src/features/virus-scan/clamd.ts'
import { EICAR, startFakeClamd } from '../support/fake-clamd.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually, TIMEOUT } from '../support/waiting.ts'

async function* of(...parts: ReadonlyArray<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    await setImmediate()
    yield Buffer.from(part)
  }
}

const addressOf = (place: string): ClamdAddress =>
  place.startsWith('/') ? { path: place } : { host: '127.0.0.1', port: Number(place.split(':')[1]) }

const clamdAt = (place: string, timeout = TIMEOUT): Clamd => new Clamd({ address: addressOf(place), timeout })

test('by TCP and by a Unix socket all bytes are scanned, in frames of any number, and no connection stays open (D32.1)', async t => {
  for (const path of [undefined, join(await temporaryFolder(), 'clamd.ctl')]) {
    const fake = await startFakeClamd(t, path)
    const clamd = clamdAt(fake.place)
    const large = randomBytes(3 * 2 ** 20 + 1)
    assert.deepEqual(await clamd.scan(of(large, '', 'more')), { kind: 'clean' })
    assert.ok(fake.scanned[0]?.equals(Buffer.concat([large, Buffer.from('more')])))
    assert.deepEqual(await clamd.scan(of()), { kind: 'clean' })
    assert.equal(fake.scanned[1]?.length, 0)
    const split = [EICAR.slice(0, 30), EICAR.slice(30)]
    assert.deepEqual(await clamd.scan(of('before ', ...split)), {
      kind: 'infected',
      signature: 'Eicar-Test-Signature',
    })
    assert.match(await clamd.version(), /^ClamAV 1\.4\.3\//)
    await eventually('every connection is closed', () => fake.connections() === 0)
  }
})

test('a reply may come in pieces; signatures are made printable (D32.1)', async t => {
  const fake = await startFakeClamd(t)
  const inPieces = async (socket: Socket): Promise<void> => {
    for (const byte of 'stream: A\nb FOUND\0') {
      socket.write(byte)
      await setImmediate()
    }
  }
  fake.misbehave = socket => void inPieces(socket)
  assert.deepEqual(await clamdAt(fake.place).scan(of('x')), { kind: 'infected', signature: 'A?b' })
})

test('bytes beyond the limit of clamd are not sent to their end (D32.1)', async t => {
  const fake = await startFakeClamd(t)
  fake.maxLength = 100_000
  let sent = 0
  let isClosed = false
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        await setImmediate()
        yield Buffer.alloc(10_000)
        sent += 10_000
      }
    } finally {
      isClosed = true
    }
  }
  // clamd closes the connection behind its reply, so the reply can be lost.
  const result = await clamdAt(fake.place)
    .scan(endless())
    .catch((error: unknown) => error)
  if (result instanceof ScannerFailure) assert.match(result.message, /EPIPE|ECONNRESET/)
  else assert.deepEqual(result, { kind: 'too-large' })
  assert.ok(sent >= 100_000 && isClosed)
})

test('whatever else clamd replies is a failure, and no reply is a timeout (D32.1)', async t => {
  const fake = await startFakeClamd(t)
  const failure = async (reply: string, timeout?: number): Promise<ScannerFailure> => {
    fake.misbehave = socket =>
      reply === 'nothing' ? socket.end() : reply === 'silence' ? undefined : socket.write(reply)
    const error = await clamdAt(fake.place, timeout)
      .scan(of('x'))
      .catch((error: unknown) => error)
    assert.ok(error instanceof ScannerFailure, String(error))
    return error
  }
  for (const reply of ['stream: broken ERROR\0', '\0', 'stream: OK FOUND OK\0', 'OK\0', 'stream: OK\n\0']) {
    const { isTimeout, message } = await failure(reply)
    assert.deepEqual([isTimeout, /^clamd replied: [ -~]*$/.test(message)], [false, true], reply)
  }
  for (const reply of ['nothing', 'x'.repeat(5000)]) assert.equal((await failure(reply)).isTimeout, false, reply)
  const silence = await failure('silence', 50)
  assert.deepEqual([silence.isTimeout, /no reply for 50 ms/.test(silence.message)], [true, true])
  assert.match((await failure('stream: OK', 50)).message, /no reply/, 'a reply without its end')
  await eventually('every connection is closed', () => fake.connections() === 0)
  await fake.kill()
  await assert.rejects(clamdAt(fake.place).version(), /127\.0\.0\.1:\d+: .*ECONNREFUSED/)
})

test('a scan ends with its signal and with an error of the source (D32.1)', async t => {
  const fake = await startFakeClamd(t)
  const clamd = clamdAt(fake.place)
  fake.misbehave = () => undefined
  const stop = new AbortController()
  const scan = clamd.scan(of('x'), stop.signal)
  scan.catch(() => {})
  await eventually('clamd has the bytes', () => fake.scanned.length === 1)
  stop.abort(new RangeError('the client has left'))
  await assert.rejects(scan, RangeError)
  await assert.rejects(clamd.scan(of('x'), stop.signal), RangeError)
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x')
    throw new TypeError('the file is gone')
  }
  await assert.rejects(clamd.scan(failing()), TypeError)
  await eventually('every connection is closed', () => fake.connections() === 0)
})

test('each failure says what clamd did, in a form that can be logged (D32.1)', async t => {
  const fake = await startFakeClamd(t)
  const clamd = clamdAt(fake.place)
  assert.equal(clamd.place, fake.place)
  assert.equal(new Clamd({ address: { path: '/run/clamd' }, timeout: 1 }).place, '/run/clamd')
  const failure = async (reply: string): Promise<ScannerFailure> => {
    fake.misbehave = socket => (reply === 'nothing' ? socket.end() : socket.write(reply))
    const error = await clamd.scan(of('x')).catch((error: unknown) => error)
    assert.ok(error instanceof ScannerFailure, String(error))
    assert.equal(error.name, 'ScannerFailure')
    return error
  }
  const closed = await failure('nothing')
  assert.equal(closed.message, `clamd at ${fake.place}: the connection was closed without a reply`)
  assert.ok(closed.cause instanceof Error)
  assert.equal((await failure('x'.repeat(4097))).message, `clamd at ${fake.place}: the reply is not that of clamd`)
  assert.equal((await failure('x'.repeat(4095) + '\0')).message, `clamd replied: ${'x'.repeat(200)}`)
  const odd = await failure('no stream: X FOUND\u0007ü\0')
  assert.deepEqual([odd.message, odd.cause], ['clamd replied: no stream: X FOUND??', undefined])
  fake.misbehave = socket => socket.write('INSTREAM size limit exceeded. ERROR\0')
  assert.deepEqual(await clamd.scan(of('x')), { kind: 'too-large' })
  fake.misbehave = socket => socket.write(`stream: ${'v'.repeat(201)} FOUND\0`)
  await assert.rejects(clamd.scan(of('x')), { name: 'ScannerFailure' })
})
