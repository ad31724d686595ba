import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { type RawRequest, sendRaw } from '../support/raw-request.ts'
import { startInProcess } from '../support/service.ts'
import { threads } from '../support/threads.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const visitor = service.visitor()
const CONNECTIONS = 600
/** Answers to others meanwhile. Each thread begins as many requests in a turn as one alone. */
const LEAST = threads === 1 ? 5 : 2

const lineFor = (path: string): string => `GET ${new URL(service.base).pathname}${path} HTTP/1.1`

/** Many connections that have had a response before. */
async function openMany(t: { after(work: () => void): void }): Promise<RawRequest[]> {
  const all: RawRequest[] = []
  t.after(() => {
    for (const { socket } of all) socket.destroy()
  })
  while (all.length < CONNECTIONS) all.push(await sendRaw(service.base, [lineFor('management/status')]))
  await Promise.all(all.map(({ until }) => until(/\}$/)))
  return all
}

/** Sends a request over each connection at the same moment. Returns how often the other caller is answered meanwhile. */
async function answersBeside(all: readonly RawRequest[], lines: readonly string[], other: Visitor): Promise<number> {
  const bytes = [...lines, 'Host: any', '', ''].join('\r\n')
  const before = all.map(({ received }) => received().length)
  for (const { socket } of all) socket.write(bytes)
  let others = 0
  while (all.some(({ received }, n) => received().length === before[n])) {
    assert.equal((await other.get('auth/user')).status, 200)
    others++
  }
  return others
}

test('a user is answered while a guest asks over hundreds of connections at once (D35.37)', async t => {
  const all = await openMany(t)
  const others = await answersBeside(all, [lineFor('auth/user')], admin)
  assert.ok(others >= LEAST, String(others))
})

test('a guest is answered while a user asks over hundreds of connections at once (D35.37)', async t => {
  const all = await openMany(t)
  const cookie = `Cookie: auth_token=${admin.cookie}`
  const others = await answersBeside(all, [lineFor('auth/user'), cookie], visitor)
  assert.ok(others >= LEAST, String(others))
})

test('a request may have 200 header fields, and with one more it is refused (D35.38)', async () => {
  const fields = (count: number): string[] => Array.from({ length: count }, (_, n) => `x-${n}: v`)
  // `Host` is one of them.
  const most = await sendRaw(service.base, [lineFor('auth/user'), ...fields(199)])
  await most.until(/^HTTP\/1\.1 200 /)
  for (const count of [200, 201, 1500]) {
    const tooMany = await sendRaw(service.base, [lineFor('auth/user'), ...fields(count)])
    await tooMany.until(/^HTTP\/1\.1 400 [\s\S]*more than 200 fields/)
    tooMany.socket.destroy()
  }
  most.socket.destroy()
})
