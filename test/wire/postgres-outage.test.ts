import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer, Visitor } from '../support/http-client.ts'
import { requirePeer } from '../support/peers/peer.ts'
import {
  administer,
  ownPostgres,
  postgres,
  signalPostgres,
  startPostgres,
  stopPostgres,
  urlOf,
} from '../support/peers/postgres.ts'
import { blobArgs } from '../support/blobs.ts'
import { stowage } from '../support/cli.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

/** Uploads without end by several clients, each to entries of its own; says what was acknowledged and how each was refused. */
class Load {
  readonly acknowledged = new Map<string, string>()
  readonly refused: Answer[] = []
  #isOver = false
  readonly #clients: Promise<void>[]

  constructor(admin: Visitor, context: string, clients: number) {
    this.#clients = Array.from({ length: clients }, (_, client) => this.#run(admin, context, client))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
  }

  async #run(admin: Visitor, context: string, client: number): Promise<void> {
    const ids: string[] = []
    for (let count = 0; !this.#isOver; count++) {
      const created = await admin.post(context)
      if (this.#note(created, 201)) ids.push(created.json<{ entryId: string }>().entryId)
      // New and replaced files alternate.
      const id = ids[Math.floor(count / 2) % Math.max(ids.length, 1)]
      if (id === undefined) continue
      const text = `${client}/${count}`
      const path = `${context}/resource/${id}`
      if (this.#note(await putFile(admin, path, text), 201)) this.acknowledged.set(path, text)
      // A refusal may have come after the commit: then either text is right, and so is whatever follows.
      else this.acknowledged.delete(path)
    }
  }

  #note(answer: Answer, expected: number): boolean {
    if (answer.status === expected) return true
    this.refused.push(answer)
    return false
  }
}

test('while PostgreSQL hangs, crashes or restarts requests are refused with 503; afterwards all goes on, nothing acknowledged is lost', async t => {
  if (!requirePeer(t, postgres)) return
  const server = await ownPostgres(t)
  await administer(server, 'CREATE DATABASE stowage')
  const url = urlOf(server, 'stowage')
  const settings = { 'service.repository.store.url': url, 'service.data.quota': 'on' }
  const service = await startProcess(t, { settings })
  const admin = await service.admin()
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  const load = new Load(admin, context, 4)
  t.after(() => load.stop())
  const progress = async (): Promise<void> => {
    const before = load.acknowledged.size
    await eventually('uploads go on', () => load.acknowledged.size > before + 4)
  }
  const outage = async (): Promise<void> => {
    const before = load.refused.length
    await eventually('uploads are refused', () => load.refused.length > before + 4)
  }
  await progress()

  await signalPostgres(server, 'SIGSTOP')
  await outage()
  await signalPostgres(server, 'SIGCONT')
  await progress()

  let present = server
  for (const signal of ['SIGQUIT', 'SIGINT'] as const) {
    await stopPostgres(present, signal)
    await outage()
    const refused = await service.visitor().get(`${context}/entry/${id}`)
    assert.equal(refused.status, 503)
    assert.equal(refused.json()['code'], 'store-unavailable')
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
    assert.equal((await service.visitor().signIn('admin', 'wrong')).status, 503)
    present = await startPostgres(server.folder, server.port)
    await progress()
  }
  await load.stop()

  for (const answer of load.refused) assert.equal(answer.status, 503, answer.text)
  for (const [path, text] of load.acknowledged) assert.equal((await admin.get(path)).text, text, path)
  assert.equal(await service.stop(), 0)
  assert.doesNotMatch(service.output(), /Test-Password/)
  const where = [`service.data.folder=${service.folder}`, `service.repository.store.url=${url}`]
  const proof = await stowage(service.folder, [
    'fsck',
    ...where.flatMap(set => ['--set', set]),
    ...blobArgs(service.folder),
  ])
  assert.equal(proof.status, 0, proof.stdout)
})

test('a first search while PostgreSQL is away is refused with 503, and answered when it is back', async t => {
  if (!requirePeer(t, postgres)) return
  const server = await ownPostgres(t)
  await administer(server, 'CREATE DATABASE stowage')
  const service = await startProcess(t, { settings: { 'service.repository.store.url': urlOf(server, 'stowage') } })
  const search = () => service.visitor().get('search?type=solr&query=title:word')

  await stopPostgres(server, 'SIGQUIT')
  // No search came before, so the thread that answers it starts now.
  const refused = await search()
  assert.equal(refused.status, 503, refused.text)
  assert.equal(refused.json()['code'], 'store-unavailable')
  assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)

  await startPostgres(server.folder, server.port)
  await eventually('searches are answered again', async () => (await search()).status === 200)
})
