import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { VirusScan, type VirusScanOptions } from '../../src/features/virus-scan/virus-scan.ts'
import { ScannerFailure, type ScanResult } from '../../src/features/virus-scan/clamd.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { verified } from '../../src/files/verified-read.ts'

test('the bytes of a file are those that its record names, or the reader gets an error (D20.5)', async () => {
  for (const size of [0, 1, 2 ** 20, 2 ** 20 + 1]) {
    const content = Buffer.alloc(size, 7)
    const pieces = (bytes: Buffer) =>
      Readable.from([bytes.subarray(0, 5), bytes.subarray(5)].filter(one => one.length > 0))
    const file = { blob: 'b', size, sha256: createHash('sha256').update(content).digest('hex') }
    assert.equal(Buffer.compare(await buffer(await verified(pieces(content), file)), content), 0)
    const damaged = Buffer.concat([content, Buffer.from('x')])
    for (const other of [{ ...file, sha256: 'f'.repeat(64) }, { ...file, size: size + 1 }, undefined]) {
      const read = async () => await buffer(await verified(pieces(other ? content : damaged), other ?? file))
      const error = await read().then(
        () => assert.fail(),
        (reason: Error) => reason,
      )
      assert.equal((error as { code?: string }).code, 'file-damaged')
      assert.match(String(error.cause), /^Error: blob b: \d+ bytes with SHA-256 [0-9a-f]{64}, recorded are \d+ with /)
    }
  }
})

test('of a large damaged file less is sent than was announced (D20.5)', async () => {
  const file = { blob: 'b', size: 2 ** 20 + 10, sha256: 'f'.repeat(64) }
  const stream = await verified(Readable.from([Buffer.alloc(2 ** 20), Buffer.alloc(5), Buffer.alloc(5)]), file)
  let received = 0
  const read = async () => {
    for await (const chunk of stream) received += (chunk as Buffer).length
  }
  await assert.rejects(read, { code: 'file-damaged' })
  assert.equal(received, 2 ** 20 + 5)
})

const scanned = { blob: 'b', size: 10, sha256: 'x', context: '3', entry: '1', sender: { userId: '7', address: 'a' } }

function scanOf(reply: () => Promise<ScanResult>, options: Partial<VirusScanOptions> = {}) {
  const system = new FakeSystem()
  const infected: unknown[] = []
  const lines: Array<Record<string, unknown>> = []
  let scans = 0
  let destroyed = 0
  const deps = {
    system,
    log: createLog('warn', { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }),
    blobs: {
      read: async () => Object.assign(Readable.from([]), { destroy: () => void destroyed++ }) as unknown as Readable,
    },
    clamd: {
      scan: async () => {
        scans++
        return await reply()
      },
    },
    onInfected: async (found: unknown) => void infected.push(found),
  }
  const all = { maxSize: 10, unscanned: 'reject', ...options } as const
  const scan = new VirusScan(deps as never, all)
  const require = (given: object = {}) => scan.require({ ...scanned, signal: new AbortController().signal, ...given })
  return { scan, require, system, infected, lines, scans: () => scans, destroyed: () => destroyed }
}

test('a clean file passes, one with a virus is refused and reported with its sender (D32.1)', async () => {
  let reply: ScanResult = { kind: 'clean' }
  const { require, scan, infected, destroyed } = scanOf(async () => reply)
  await require()
  reply = { kind: 'infected', signature: 'Eicar' }
  await assert.rejects(require(), {
    code: 'virus-found',
    message: 'The virus scanner found Eicar in the file. Nothing was stored.',
    extra: { signature: 'Eicar' },
  })
  const { blob: _blob, ...found } = scanned
  assert.deepEqual(infected, [{ ...found, signature: 'Eicar' }])
  assert.deepEqual(scan.counts, { clean: 1, infected: 1, 'too-large': 0, failed: 0 })
  assert.equal(destroyed(), 2)
})

test('a file larger than the limit is not scanned; it is refused, or stored with a warning (D32.1)', async () => {
  const clean = async (): Promise<ScanResult> => ({ kind: 'clean' })
  const refused = scanOf(clean)
  await refused.require({ size: 10 })
  await assert.rejects(refused.require({ size: 11 }), {
    code: 'too-large-to-scan',
    message: 'A file of 11 bytes is too large for the virus scanner.',
    extra: { limit: 10 },
  })
  assert.deepEqual([refused.scans(), refused.scan.counts['too-large']], [1, 1])
  const stored = scanOf(clean, { unscanned: 'store' })
  await stored.require({ size: 11 })
  const [{ msg, context, entry, size } = {}] = stored.lines
  const text = 'a file too large for the virus scanner was stored without a scan'
  assert.deepEqual([msg, context, entry, size], [text, '3', '1', 11])
  const all = scanOf(clean, { maxSize: -1 })
  await all.require({ size: 11 })
  assert.equal(all.scans(), 1)
})

test('where the scanner itself says that a file is too large, the limit is below its size (D32.1)', async () => {
  for (const maxSize of [-1, 100]) {
    const { require } = scanOf(async () => ({ kind: 'too-large' }), { maxSize })
    await assert.rejects(require(), { code: 'too-large-to-scan', extra: { limit: 9 } })
  }
})

test('while the scanner fails files are refused, or stored with a warning; after a timeout it rests (D32.1)', async () => {
  for (const isTimeout of [true, false]) {
    const { require, scans, system, scan, lines, destroyed } = scanOf(async () => {
      throw Object.assign(new ScannerFailure('away'), { isTimeout })
    })
    const refusal = {
      code: 'scan-unavailable',
      message: 'The virus scanner does not respond. Nothing was stored.',
    }
    await assert.rejects(require(), refusal)
    assert.deepEqual([lines[0]?.['msg'], lines[0]?.['context']], ['the virus scanner gave no result', '3'])
    system.pass(4999)
    await assert.rejects(require(), refusal)
    assert.equal(scans(), isTimeout ? 1 : 2)
    system.pass(1)
    await assert.rejects(require(), refusal)
    assert.deepEqual([scans(), destroyed()], isTimeout ? [2, 2] : [3, 3])
    assert.equal(scan.counts.failed, 3)
  }
  const stored = scanOf(async () => Promise.reject(new ScannerFailure('away')), { unscanned: 'store' })
  await stored.require()
  assert.equal(stored.lines.at(-1)?.['msg'], 'a file was stored without a virus scan, because the scanner failed')
  const other = scanOf(async () => Promise.reject(new Error('a fault of ours')), { unscanned: 'store' })
  await assert.rejects(other.require(), /a fault of ours/)
})

test('a client that has left before its turn has nothing scanned', async () => {
  const { require, scans } = scanOf(async () => ({ kind: 'clean' }))
  await assert.rejects(require({ signal: AbortSignal.abort(new Error('left')) }), /left/)
  assert.equal(scans(), 0)
})
