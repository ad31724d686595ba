import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { blobsOf } from '../support/blobs.ts'
import { startFakeClamd } from '../support/fake-clamd.ts'
import { type Pinned, pinToEach } from '../support/pinned.ts'
import { newContext, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { eventually } from '../support/waiting.ts'

const THREADS = 4
const CONCURRENCY = 2
const UPLOADS = 12
const LEAVERS = 2

test('no more files are scanned at once than the setting says, whichever threads the uploads come to (D32.1)', {
  skip: onPostgres && 'there each process has one thread',
}, async t => {
  const clamd = await startFakeClamd(t)
  const service = await startProcess(t, {
    settings: {
      'service.http.threads': String(THREADS),
      'service.data.virus-scan': clamd.place,
      'service.data.virus-scan.concurrency': String(CONCURRENCY),
    },
  })
  const open = new Set<Socket>()
  let most = 0
  clamd.misbehave = socket => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    most = Math.max(most, open.size)
  }
  const admin = await service.admin()
  const context = await newContext(admin)
  const connections: Pinned[] = []
  for (let n = 0; n < UPLOADS / THREADS; n++) connections.push(...(await pinToEach(service, THREADS)))
  t.after(() => {
    for (const connection of connections) connection.close()
  })
  const uploads = connections.map((connection, n) =>
    connection
      .ask(`${context}?file&id=file${n}`, {
        method: 'POST',
        cookie: admin.cookie,
        headers: { 'content-type': 'text/plain' },
        body: 'text',
      })
      .then(
        ({ status }) => status,
        () => 'left' as const,
      ),
  )
  await eventually('all files wait for a scan', async () => {
    const { stored, incoming } = await blobsOf(service)
    return stored.length + incoming.length === UPLOADS && open.size >= CONCURRENCY
  })
  // Two clients leave without an answer: the next files are scanned in place of theirs.
  for (const connection of connections.slice(0, LEAVERS)) connection.close()
  let answered = 0
  for (const upload of uploads) void upload.then(() => answered++)
  await eventually('every upload is answered', () => {
    for (const socket of open) socket.end('stream: OK\0')
    return answered === UPLOADS
  })
  const statuses = await Promise.all(uploads)
  assert.deepEqual(
    statuses.slice(LEAVERS),
    statuses.slice(LEAVERS).map(() => 201),
  )
  assert.equal(most, CONCURRENCY)
})
