import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { backUp, fsckIsClean, place, succeeded } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { startFakeClamd } from '../support/fake-clamd.ts'
import { newContext, newEntry, newUser, program, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'

const service = await startProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const anna = await newUser(service, admin)
const visitor = service.visitor()
await visitor.signIn(anna.name, anna.password)
const parent = await temporaryFolder()
const clamd = await startFakeClamd({ after })
const where = [...(await place(service.folder)), '--set', 'service.data.quota=on']
const scanned = [...where, '--set', `service.data.virus-scan=${clamd.place}`]
const limits = { quota: 1000, maxFiles: 3 }

/** A deleted context with a file, a quota and a group, and the arguments of the command that restores it. */
async function deletedContext() {
  const context = await newContext(admin, [anna.id])
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, 'old')).status, 201)
  assert.equal((await admin.put(`quota/contexts/${context}`, limits)).status, 200)
  const group = `quota/groups/of-${context}`
  assert.equal((await admin.put(group, { quota: 500, contexts: [context] })).status, 200)
  const backup = join(parent, `of-${context}`)
  succeeded(await backUp(service.folder, backup))
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  const hasQuotas = async (reader = admin): Promise<void> => {
    const { quota, maxFiles } = (await reader.get(`quota/contexts/${context}`)).json()
    assert.deepEqual({ quota, maxFiles }, limits)
    assert.deepEqual((await reader.get(group)).json()['contexts'], [context])
  }
  return { context, path, group, args: ['restore', backup, '--context', context], hasQuotas }
}

/** Runs the command, and `work` while it has stored the file of the context, but not yet replaced its content. */
async function during(args: readonly string[], work: () => Promise<string>) {
  const running = stowage(parent, [...args, ...scanned])
  const reply = await whileScanned(work)
  return { ...(await running), reply }
}

async function whileScanned(work: (socket: Socket) => Promise<string>): Promise<string> {
  const socket = await new Promise<Socket>(resolve => {
    clamd.misbehave = resolve
  })
  clamd.misbehave = undefined
  const reply = await work(socket)
  socket.end(reply)
  return reply
}

for (const [what, reply, message] of [
  [
    'is not replaced',
    'stream: OK\0',
    /Users have added entries to the context \S+ before its content was restored\. Nothing was restored\./,
  ],
  ['stays if the restore fails', 'stream: Eicar FOUND\0', /Eicar/],
] as const)
  test(`what users add to a context before its content is back ${what} (D20.20)`, async () => {
    const { context, path, args, hasQuotas } = await deletedContext()
    let added = ''
    const { status, stderr } = await during(args, async () => {
      added = `${context}/resource/${await newEntry(visitor, context)}`
      assert.equal((await putFile(visitor, added, 'new')).status, 201)
      return reply
    })
    assert.equal(status, 1)
    assert.match(stderr, message)
    assert.equal((await visitor.get(added)).text, 'new')
    await hasQuotas()
    succeeded(await stowage(parent, [...args, '--replace', ...where]))
    assert.equal((await visitor.get(path)).text, 'old')
  })

test('what is in the trash counts as content of a context (D20.20)', async () => {
  const { context, args } = await deletedContext()
  const { status, stderr } = await during(args, async () => {
    const added = await newEntry(visitor, context)
    assert.ok((await visitor.post(`${context}/trash/${added}`, undefined)).status < 300)
    return 'stream: OK\0'
  })
  assert.equal(status, 1)
  assert.match(stderr, /Nothing was restored/)
})

test('an empty context keeps the limits that were set for it since, when its content comes back', async () => {
  const { context, path, group, args } = await deletedContext()
  succeeded(await stowage(parent, [...args, ...where]))
  assert.equal((await admin.delete(group)).status, 204)
  assert.equal((await admin.delete(path.replace('resource', 'entry'))).status, 204)
  assert.equal((await admin.put(`quota/contexts/${context}`, { quota: 700, maxFiles: 2 })).status, 200)
  assert.equal((await admin.put('quota/groups/other', { quota: 600, contexts: [context] })).status, 200)
  succeeded(await stowage(parent, [...args, ...where]))
  assert.equal((await visitor.get(path)).text, 'old')
  assert.equal((await admin.get(`quota/contexts/${context}`)).json()['quota'], 700)
  assert.deepEqual((await admin.get('quota/groups/other')).json()['contexts'], [context])
})

test('a context that a killed restore has left empty is filled by the same command, with its quotas (D20.20)', async t => {
  const { context, path, group, args, hasQuotas } = await deletedContext()
  const child = spawn(process.execPath, [program, ...args, ...scanned], { cwd: parent, stdio: 'ignore' })
  const exited = once(child, 'exit')
  await whileScanned(async () => {
    child.kill('SIGKILL')
    await exited
    return ''
  })
  // As if it had been killed before it set them.
  assert.equal((await admin.delete(`quota/contexts/${context}`)).status, 200)
  assert.equal((await admin.delete(group)).status, 204)
  await service.stop()
  // Its start deletes what the command has stored; a running service does so some minutes later.
  const again = await startProcess(t, { folder: service.folder, settings: { 'service.data.quota': 'on' } })
  succeeded(await stowage(parent, [...args, ...where]))
  const owner = await again.admin()
  assert.equal((await owner.get(path)).text, 'old')
  await hasQuotas(owner)
  await again.stop()
  await fsckIsClean(service.folder)
})
