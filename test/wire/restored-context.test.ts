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
  const hasQuotas = async (reader = admin, contexts = [context]): Promise<void> => {
    const { quota, maxFiles } = (await reader.get(`quota/contexts/${context}`)).json()
    assert.deepEqual({ quota, maxFiles }, limits)
    assert.deepEqual((await reader.get(group)).json()['contexts'], contexts)
  }
  return { context, path, group, args: ['restore', backup, '--context', context], hasQuotas }
}

/** Runs the command, and `work` while it has stored the file of the context, but not yet made the context. */
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

test('a context is there for its users when all of its content is (D20.20)', async () => {
  const { context, path, args, hasQuotas } = await deletedContext()
  const { status, stderr } = await during(args, async () => {
    assert.equal((await admin.get(`_contexts/entry/${context}`)).status, 404)
    assert.notEqual((await visitor.post(context, undefined)).status, 201)
    return 'stream: OK\0'
  })
  assert.deepEqual([status, stderr], [0, ''])
  assert.equal((await visitor.get(path)).text, 'old')
  await hasQuotas()
})

test('if a context does not come back, its quotas do not either, and other contexts of the group stay in it (D20.20)', async () => {
  const { context, path, group, args, hasQuotas } = await deletedContext()
  assert.equal((await admin.delete(group)).status, 204)
  const other = await newContext(admin)
  const { status, stderr } = await during(args, async () => {
    assert.equal((await admin.put(group, { quota: 600, contexts: [other] })).status, 200)
    return 'stream: Eicar FOUND\0'
  })
  assert.equal(status, 1)
  assert.match(stderr, /Eicar/)
  assert.equal((await admin.get(`_contexts/entry/${context}`)).status, 404)
  const { quota, fillLevel, contexts } = (await admin.get(group)).json()
  assert.deepEqual({ quota, fillLevel, contexts }, { quota: 600, fillLevel: 0, contexts: [other] })
  succeeded(await stowage(parent, [...args, ...where]))
  assert.equal((await visitor.get(path)).text, 'old')
  await hasQuotas(admin, [context, other].sort())
})

test('a context that exists is not filled without --replace, even if it is empty (D20.20)', async () => {
  const { context, path, args } = await deletedContext()
  succeeded(await stowage(parent, [...args, ...where]))
  assert.equal((await admin.delete(path.replace('resource', 'entry'))).status, 204)
  assert.equal((await admin.put(`quota/contexts/${context}`, { quota: 700, maxFiles: 2 })).status, 200)
  const { status, stderr } = await stowage(parent, [...args, ...where])
  assert.equal(status, 1)
  assert.match(stderr, /There is a context "\S+"\. With --replace its whole content is replaced/)
  assert.equal((await visitor.get(path)).status, 404)
  succeeded(await stowage(parent, [...args, '--replace', ...where]))
  assert.equal((await visitor.get(path)).text, 'old')
  assert.equal((await admin.get(`quota/contexts/${context}`)).json()['quota'], 700)
})

test('of two commands that restore the same context at once, one succeeds (D20.20)', async () => {
  const { path, args, hasQuotas } = await deletedContext()
  const { status, stderr } = await during(args, async () => {
    const second = await stowage(parent, [...args, ...where])
    assert.equal(second.status, 1)
    assert.match(second.stderr, /Another import into this context is in progress/)
    return 'stream: OK\0'
  })
  assert.deepEqual([status, stderr], [0, ''])
  assert.equal((await visitor.get(path)).text, 'old')
  await hasQuotas()
})

test('what a backup has of another context with the same id goes nowhere (D20.20)', async t => {
  const other = await startProcess(t)
  const owner = await other.admin()
  const { context, path, args } = await deletedContext()
  const named = await newContext(owner)
  assert.equal((await owner.put(`_contexts/entry/${named}/name`, { name: context })).status, 204)
  const entry = path.replace('/resource/', '/')
  const stores = await place(other.folder)
  const into = async (...more: string[]) => await stowage(parent, [...args.slice(0, 2), ...more, ...stores])
  const taken = await into('--context', context, '--replace')
  assert.match(taken.stderr, /Another context, \d+, has the name or id "\d+"/)
  assert.equal((await owner.delete(`_contexts/entry/${named}`)).status, 204)
  let made = await newContext(owner)
  while (Number(made) < Number(context)) made = await newContext(owner)
  assert.equal(made, context)
  for (const more of [
    ['--context', context],
    ['--context', context, '--replace'],
    ['--entry', entry],
    ['--entry', entry, '--replace'],
  ]) {
    const { status, stdout, stderr } = await into(...more)
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /The context "\S+" of the store is not the one in the backup/)
  }
  assert.equal((await owner.get(path)).status, 404)
  await other.stop()
  await fsckIsClean(other.folder)
})

test('a context does not come back while another one has its name, and says so before it reads the files', async () => {
  const { context, path, args } = await deletedContext()
  succeeded(await stowage(parent, [...args, ...where]))
  const name = `of-${context}`
  assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name })).status, 204)
  const named = join(parent, `named-${context}`)
  succeeded(await backUp(service.folder, named))
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  const other = await newContext(admin)
  assert.equal((await admin.put(`_contexts/entry/${other}/name`, { name })).status, 204)
  const begun = clamd.begun()
  const restored = async () => await stowage(parent, ['restore', named, '--context', name, ...scanned])
  const { status, stderr } = await restored()
  assert.equal(status, 1)
  assert.match(stderr, /Another context, \d+, has the name or id "of-\d+"/)
  assert.equal(clamd.begun(), begun)
  assert.equal((await admin.delete(`_contexts/entry/${other}`)).status, 204)
  succeeded(await restored())
  assert.equal((await visitor.get(path)).text, 'old')
})

test('the files of a context that comes back fit into each quota to the byte, or nothing comes back (D7.3)', async () => {
  const { context, path, group, args } = await deletedContext()
  const { fillLevel } = (await admin.get('quota/store')).json() as { fillLevel: number }
  const set = async (owner: string, quota: number): Promise<void> => {
    assert.equal((await admin.put(owner, { quota })).status, 200)
  }
  const levelOf = async (owner: string): Promise<unknown> => (await admin.get(owner)).json()['fillLevel']
  for (const [owner, quota] of [
    ['quota/store', fillLevel + 2],
    [group, 2],
  ] as const) {
    await set(owner, quota)
    const { status, stderr } = await stowage(parent, [...args, ...where])
    assert.equal(status, 1)
    assert.match(stderr, new RegExp(`has a quota of ${quota} bytes`))
    assert.deepEqual([await levelOf('quota/store'), await levelOf(group)], [fillLevel, 0])
    assert.equal((await admin.get(`_contexts/entry/${context}`)).status, 404)
    await set(owner, quota + 1)
  }
  succeeded(await stowage(parent, [...args, ...where]))
  assert.equal((await visitor.get(path)).text, 'old')
  assert.deepEqual([await levelOf('quota/store'), await levelOf(group)], [fillLevel + 3, 3])
  assert.equal((await admin.delete('quota/store')).status, 200)
})

test('a killed restore of a context leaves nothing, so another backup can follow (D20.20)', async t => {
  const { context, path, group, args, hasQuotas } = await deletedContext()
  const later = join(parent, `later-of-${context}`)
  succeeded(await stowage(parent, [...args, ...where]))
  assert.equal((await putFile(admin, path, 'later')).status, 201)
  assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name: `later-${context}` })).status, 204)
  succeeded(await backUp(service.folder, later))
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  assert.equal((await admin.delete(group)).status, 204)
  const child = spawn(process.execPath, [program, ...args, ...scanned], { cwd: parent, stdio: 'ignore' })
  const exited = once(child, 'exit')
  await whileScanned(async () => {
    child.kill('SIGKILL')
    await exited
    return ''
  })
  assert.equal((await admin.get(`_contexts/entry/${context}`)).status, 404)
  assert.equal((await admin.get(group)).status, 404)
  await service.stop()
  // Its start deletes what the command has stored; a running service does so some minutes later.
  const again = await startProcess(t, { folder: service.folder, settings: { 'service.data.quota': 'on' } })
  succeeded(await stowage(parent, ['restore', later, ...args.slice(2), ...where]))
  const owner = await again.admin()
  assert.equal((await owner.get(path)).text, 'later')
  assert.match((await owner.get(`_contexts/entry/${context}/name`)).text, /later-/)
  await hasQuotas(owner)
  await again.stop()
  await fsckIsClean(service.folder)
})
