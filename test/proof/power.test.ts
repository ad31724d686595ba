import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucket } from '../support/blobs.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { strace } from '../support/peers/strace.ts'
import { isLong, proofSeed } from '../support/proofs.ts'
import { onPostgres } from '../support/store.ts'
import { provePower, recordLife } from './power.ts'
import type { Recording } from './power-recording.ts'
import type { Call } from './power-trace.ts'

const skip = onPostgres || bucket !== undefined
let recording: Promise<Recording> | undefined

test('after a power cut at any moment nothing acknowledged is lost, quotas are exact, and no deleted bytes come back (D7.4, D7.5)', {
  skip,
}, async t => {
  if (!requirePeer(t, strace)) return
  recording ??= recordLife()
  const seed = proofSeed()
  const report = await provePower(await recording, { states: isLong ? 3000 : 40, seed, every: isLong ? 1 : 24 })
  t.diagnostic(`seed ${seed}: ${JSON.stringify(report.states)}`)
  assert.deepEqual(report.findings, [])
})

const isFileFolder = (path: string): boolean => /^data\/files\/[0-9a-f]{2}$/.test(path)
const faults: Readonly<Record<string, (path: string, folders: ReadonlySet<string>) => boolean>> = {
  'folders are not synchronised': (path, folders) => folders.has(path),
  'only the folders of files are not synchronised': isFileFolder,
  'the log of the database is not synchronised': path => path.endsWith('-wal'),
}

for (const [fault, concerns] of Object.entries(faults)) {
  test(`the proof notices when ${fault}`, { skip }, async t => {
    if (!requirePeer(t, strace)) return
    recording ??= recordLife()
    const { calls } = await recording
    const folders = new Set(['', ...calls.flatMap(call => (call.kind === 'mkdir' ? [call.path] : []))])
    const without = (call: Call): boolean => call.kind === 'sync' && concerns(call.path, folders)
    const { findings } = await provePower(await recording, { states: 0, seed: 1, every: Infinity, without })
    t.diagnostic(findings[0] ?? '')
    assert.equal(findings.length > 0, true)
  })
}
