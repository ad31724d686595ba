import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { newUser } from '../support/service.ts'
import { after } from '../support/after.ts'
import { backUp, fsckIsClean, place, succeeded, timesIn } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { startFakeClamd } from '../support/fake-clamd.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const settings = { 'service.data.quota': 'on' }
const service = await startProcess({ after }, { settings })
const admin = await service.admin()
const anna = await newUser(service, admin)
const context = await newContext(admin, [anna.id])
assert.equal((await admin.put(`${context}/quota`, { quota: 1000 })).status, 200)
const list = await newEntry(admin, context, '?graphtype=list')
const inList = `?list=${encodeURIComponent(`${admin.base}${context}/resource/${list}`)}`
const [one, two] = [await newEntry(admin, context, inList), await newEntry(admin, context, inList)]
const pathOf = (id: string): string => `${context}/resource/${id}`
const title = (id: string, value: string) => ({
  [`${admin.base}${pathOf(id)}`]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value }] },
})
for (const id of [one, two]) {
  assert.equal((await putFile(admin, pathOf(id), `old ${id}`.padEnd(400, '.'))).status, 201)
  assert.equal((await admin.put(`${context}/metadata/${id}`, title(id, `Sunset ${id}`))).status, 204)
}
const parent = await temporaryFolder()
const backup = join(parent, 'backup')
succeeded(await backUp(service.folder, backup))
const where = [...(await place(service.folder)), '--set', 'service.data.quota=on']
const restore = async (...args: string[]) => await stowage(parent, ['restore', backup, ...args, ...where])
async function usage(): Promise<number> {
  const { fillLevel }: { fillLevel: number } = (await admin.get(`${context}/quota`)).json()
  return fillLevel
}
const members = async (): Promise<unknown> => (await admin.get(pathOf(list))).json()

async function isAsBefore(id: string): Promise<void> {
  assert.match((await admin.get(pathOf(id))).text, new RegExp(`^old ${id}\\.`))
  assert.match((await admin.get(`${context}/metadata/${id}`)).text, new RegExp(`Sunset ${id}`))
  const { text } = await admin.get(
    `search?type=solr&query=title:Sunset+AND+context:${encodeURIComponent(`${admin.base}${context}`)}`,
  )
  assert.match(text, new RegExp(`"${id}"`))
}

test('one entry comes back into the running store: file, metadata, place in its list, quota, and the audit log says so', async () => {
  assert.equal((await admin.delete(`${context}/entry/${one}`)).status, 204)
  assert.equal(await usage(), 400)
  const { status, stdout, stderr } = await restore('--entry', `${context}/${one}`)
  assert.deepEqual([status, stderr], [0, ''])
  assert.match(stdout, /is as it was on 20\S+: 1 entry\.\n$/)
  await isAsBefore(one)
  assert.equal(await usage(), 800)
  assert.deepEqual(await members(), [two, one])
  const visitor = service.visitor()
  await visitor.signIn(anna.name, anna.password)
  assert.equal((await visitor.get(pathOf(one))).status, 200, 'its users have their rights')
  const { events } = (await admin.get('management/audit?event=entry-restored')).json() as {
    events: Array<{ detail: unknown }>
  }
  assert.deepEqual(events[0]?.detail, { context, entry: one, name: `Sunset ${one}`, entries: 1, by: 'command' })
})

test('a list comes back with what was in it and is gone; what is still there stays as it is', async () => {
  assert.equal((await putFile(admin, pathOf(two), 'new')).status, 201)
  for (const id of [list, one]) assert.equal((await admin.delete(`${context}/entry/${id}`)).status, 204)
  assert.match(succeeded(await restore('--entry', `${context}/${list}`)), /2 entries\.\n$/)
  await isAsBefore(one)
  assert.equal((await admin.get(pathOf(two))).text, 'new')
  assert.deepEqual(await members(), [one])
})

test('an entry that is there is replaced only if that is asked for, as a new version in its place', async () => {
  assert.equal((await putFile(admin, pathOf(one), 'new')).status, 201)
  const before = (await admin.get(`${context}/entry/${one}`)).headers['last-modified']
  const refused = await restore('--entry', `${context}/${one}`)
  assert.deepEqual([refused.status, refused.stdout], [1, ''])
  assert.match(
    refused.stderr,
    /^stowage restore: There is an entry "\S+" in context \S+\. With --replace it gets the old content\.$/m,
  )
  assert.equal((await admin.get(pathOf(one))).text, 'new')
  const stdout = succeeded(await restore('--entry', `${context}/${one}`, '--replace'))
  assert.match(stdout, /: 1 entry\. Its metadata and access list are those of the backup, too\.\n$/)
  await isAsBefore(one)
  assert.deepEqual(await members(), [one])
  assert.ok(before !== undefined)
  assert.equal(await usage(), 403)
  assert.equal((await admin.get(pathOf(one))).headers['content-length'], '400')
})

test('what is in the trash is restored from there', async () => {
  const id = await newEntry(admin, context)
  const folder = join(parent, 'with-trashed')
  succeeded(await backUp(service.folder, folder))
  assert.equal((await admin.post(`${context}/trash/${id}`, undefined)).status < 300, true)
  const { status, stderr } = await stowage(parent, ['restore', folder, '--entry', `${context}/${id}`, ...where])
  assert.equal(status, 1)
  assert.match(
    stderr,
    /is in the trash of context \S+: restore it there\. With --replace it then gets the old content\.$/m,
  )
})

test('an entry that does not fit into the quota, or carries a virus, does not come back, and nothing is left of it', async t => {
  assert.equal((await admin.delete(`${context}/entry/${one}`)).status, 204)
  assert.equal((await admin.put(`${context}/quota`, { quota: 100 })).status, 200)
  const full = await restore('--entry', `${context}/${one}`)
  assert.equal(full.status, 1)
  assert.match(full.stderr, /^stowage restore: .*quota/m)
  assert.equal((await admin.put(`${context}/quota`, { quota: 1000 })).status, 200)
  const clamd = await startFakeClamd(t)
  clamd.misbehave = socket => void socket.end('stream: Eicar FOUND\0')
  const infected = await restore('--entry', `${context}/${one}`, '--set', `service.data.virus-scan=${clamd.place}`)
  assert.equal(infected.status, 1)
  assert.match(infected.stderr, /Eicar/)
  assert.equal((await admin.get(`${context}/entry/${one}`)).status, 404)
  assert.equal(await usage(), 3)
})

test('a deleted context comes back under its id, with name, access list, quota and content', async () => {
  const name = `of-anna-${context}`
  assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name })).status, 204)
  const folder = join(parent, 'named')
  succeeded(await restore('--entry', `${context}/${one}`))
  succeeded(await backUp(service.folder, folder))
  const back = (...args: string[]) => stowage(parent, ['restore', folder, '--context', name, ...args, ...where])
  const refused = await back()
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /There is a context "\S+"\. With --replace its whole content is replaced/)
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  const lost = await stowage(parent, ['restore', folder, '--entry', `${context}/${one}`, ...where])
  assert.equal(lost.status, 1)
  assert.match(lost.stderr, /Restore it first, with --context\./)

  assert.match(succeeded(await back()), /: \d+ entries, 2 files with 403 bytes\.\n$/)
  await isAsBefore(one)
  assert.deepEqual((await admin.get(`${context}/quota`)).json(), {
    quota: 1000,
    fillLevel: 403,
    hasDefaultQuota: false,
  })
  assert.match((await admin.get(`_contexts/entry/${context}/name`)).text, new RegExp(`"${name}"`))
  const visitor = service.visitor()
  await visitor.signIn(anna.name, anna.password)
  assert.equal((await visitor.get(pathOf(one))).status, 200)

  assert.equal((await putFile(admin, pathOf(one), 'new')).status, 201)
  succeeded(await back('--replace'))
  await isAsBefore(one)
})

test('a new user with the name of a deleted one does not get the rights that come back', async () => {
  const folder = join(parent, 'of-deleted')
  const mine = await newContext(admin, [anna.id])
  const id = await newEntry(admin, mine)
  const entry = `${mine}/entry/${id}`
  const grant = { [`${admin.base}${mine}/resource/${id}`]: { 'http://entrystore.org/terms/read': [uriOf(anna.id)] } }
  assert.equal((await admin.put(entry, { [`${admin.base}${entry}`]: {}, ...grant })).status, 204)
  succeeded(await backUp(service.folder, folder))
  assert.equal((await admin.delete(`_principals/entry/${anna.id}`)).status, 204)
  const resource = { name: anna.name, password: anna.password }
  assert.equal((await admin.post('_principals?graphtype=user', { resource })).status, 201)
  const visitor = service.visitor()
  assert.equal((await visitor.signIn(anna.name, anna.password)).status, 200)
  assert.equal((await admin.delete(`_contexts/entry/${mine}`)).status, 204)
  succeeded(await stowage(parent, ['restore', folder, '--context', mine, ...where]))
  assert.equal((await visitor.get(entry)).status, 403)
  assert.equal((await visitor.get(`_contexts/entry/${mine}`)).status, 403)
  assert.equal((await admin.delete(entry)).status, 204)
  succeeded(await stowage(parent, ['restore', folder, '--entry', `${mine}/${id}`, ...where]))
  assert.equal((await visitor.get(entry)).status, 403)
})

test('who replaces an entry is told that access which was revoked since is back, and where to see it', async () => {
  const folder = join(parent, 'shared')
  const reader = await newUser(service, admin)
  const id = await newEntry(admin, context)
  const entry = `${context}/entry/${id}`
  const grant = {
    [`${admin.base}${context}/resource/${id}`]: { 'http://entrystore.org/terms/read': [uriOf(reader.id)] },
  }
  assert.equal((await admin.put(entry, { [`${admin.base}${entry}`]: {}, ...grant })).status, 204)
  succeeded(await backUp(service.folder, folder))
  assert.equal((await admin.put(entry, { [`${admin.base}${entry}`]: {} })).status, 204)
  const args = ['restore', folder, '--entry', `${context}/${id}`, '--replace', ...where]
  const [, how = ''] =
    /has changed: `stowage (audit export .*)` prints what it was and is\./.exec(
      succeeded(await stowage(parent, args)),
    ) ?? []
  const lines = succeeded(await stowage(parent, [...how.split(' '), ...where]))
    .trimEnd()
    .split('\n')
  assert.match(lines[0] ?? '', new RegExp(`${context}/${id}.*rread: ${reader.id}`))
  assert.doesNotMatch(succeeded(await stowage(parent, args)), /has changed/)
})

const uriOf = (id: string) => ({ type: 'uri', value: `${admin.base}_principals/resource/${id}` })

test('a context comes back with its limits and into its group, also while quotas are off and if the group is gone (D41.3)', async () => {
  const folder = join(parent, 'grouped')
  const [mine, other] = [await newContext(admin), await newContext(admin)]
  assert.equal((await putFile(admin, `${mine}/resource/${await newEntry(admin, mine)}`, 'x'.repeat(20))).status, 201)
  const set = async (owner: string, limits: object): Promise<void> => {
    const answer = await admin.put(`quota/${owner}`, limits)
    assert.equal(answer.status, 200, answer.text)
  }
  const limits = { quota: 1000, maxFiles: 3 }
  await set(`contexts/${mine}`, limits)
  await set('groups/lab', { quota: 500, maxFiles: 7, contexts: [mine, other] })
  succeeded(await backUp(service.folder, folder))
  const back = async (quota = 'on', ...args: string[]) => {
    const stores = [...(await place(service.folder)), '--set', `service.data.quota=${quota}`]
    return await stowage(parent, ['restore', folder, '--context', mine, ...stores, ...args])
  }
  const removeContext = async (): Promise<void> => {
    assert.equal((await admin.delete(`_contexts/entry/${mine}`)).status, 204)
  }
  const stateOf = async (owner: string) => {
    const { quota, maxFiles, fillLevel, contexts } = (await admin.get(`quota/${owner}`)).json()
    return { quota, maxFiles, fillLevel, contexts }
  }
  await removeContext()
  succeeded(await back('off'))
  assert.deepEqual(await stateOf(`contexts/${mine}`), { ...limits, fillLevel: 20, contexts: undefined })
  const whole = { quota: 500, maxFiles: 7, fillLevel: 20 }
  assert.deepEqual(await stateOf('groups/lab'), { ...whole, contexts: [mine, other].sort() })

  await removeContext()
  await set('groups/lab', { quota: 19 })
  const full = await back()
  assert.equal(full.status, 1)
  assert.match(full.stderr, /The group of contexts "lab" has a quota of 19 bytes/)
  assert.deepEqual((await stateOf('groups/lab')).contexts, [other])

  assert.equal((await admin.delete('quota/groups/lab')).status, 204)
  assert.equal((await back('on', '--set', 'service.data.max-file-size=10')).status, 1)
  assert.equal((await admin.get('quota/groups/lab')).status, 404)
  succeeded(await back())
  assert.deepEqual(await stateOf('groups/lab'), { ...whole, contexts: [mine] })
})

test('a context whose content is refused is not made either', async () => {
  const folder = join(parent, 'refused')
  succeeded(await backUp(service.folder, folder))
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  const { status, stderr } = await stowage(parent, [
    'restore',
    folder,
    '--context',
    context,
    ...where,
    '--set',
    'service.data.max-file-size=10',
  ])
  assert.equal(status, 1)
  assert.match(stderr, /at most 10 bytes/)
  assert.equal((await admin.get(`_contexts/entry/${context}`)).status, 404)
  succeeded(await stowage(parent, ['restore', folder, '--context', context, ...where]))
  await isAsBefore(one)
})

test('bad input is refused, wrong arguments with status 2, and changes nothing', async () => {
  for (const [args, message, wanted = 2] of [
    [['--entry', 'photos'], /--entry is written CONTEXT\/ID/],
    [['--entry', 'a/b', '--context', 'a'], /Give either --context or --entry/],
    [['--replace'], /--replace needs --context or --entry/],
    [['--context', 'nowhere'], /There is no context "nowhere" in the backup of 20/, 1],
    [['--entry', `${context}/nothing`], /There is no entry "nothing" in context/, 1],
    [['--context', '_principals'], /System contexts/, 1],
  ] as const) {
    const { status, stderr, stdout } = await restore(...args)
    assert.deepEqual([status, stdout], [wanted, ''], stderr)
    assert.match(stderr, message)
  }
})

test('a part also comes back from an encrypted backup that the service has made', async t => {
  const secret = await generateX25519Identity()
  const target = join(await temporaryFolder(), 'backups')
  const second = await startProcess(t, {
    settings: {
      ...settings,
      'service.backup.schedule': '0 0 29 2 *',
      'service.backup.target': target,
      'service.backup.encrypt-to.1': await identityToRecipient(secret),
    },
  })
  const owner = await second.admin()
  await eventually('the first backup, of the empty store', async () => (await timesIn(target)).length > 0)
  const made = await newContext(owner, [])
  const id = await newEntry(owner, made)
  assert.equal((await putFile(owner, `${made}/resource/${id}`, 'secret text')).status, 201)
  await second.stop()
  const again = await startProcess(t, {
    folder: second.folder,
    settings: {
      'service.backup.schedule': '* * * * * *',
      'service.backup.target': target,
      'service.backup.encrypt-to.1': await identityToRecipient(secret),
    },
  })
  await eventually('a backup with the file', async () =>
    /1 file, 11 bytes, encrypted/.test((await stowage('/', ['backup', 'list', target])).stdout),
  )
  await again.stop()
  const third = await startProcess(t, { folder: second.folder })
  const visitor = await third.admin()
  assert.equal((await visitor.delete(`${made}/entry/${id}`)).status, 204)
  const identity = join(parent, 'key.txt')
  await writeFile(identity, `${secret}\n`)
  const args = ['restore', target, '--entry', `${made}/${id}`, ...(await place(second.folder))]
  assert.equal((await stowage(parent, args)).status, 1)
  succeeded(await stowage(parent, [...args, '--identity', identity]))
  assert.equal((await visitor.get(`${made}/resource/${id}`)).text, 'secret text')
})

test('after all of this the store is consistent', async () => {
  await service.stop()
  await fsckIsClean(service.folder)
})
