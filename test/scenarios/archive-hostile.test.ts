import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { archiveOf, exportOf, importInto, type Member, membersOf, withText } from '../support/archives.ts'
import { graphOf, textTerm, TITLE } from '../support/content.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { blobsOf } from '../support/blobs.ts'
import { putFile } from '../support/uploads.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

const content = 'the bytes of a file'
const source = await newContext(admin)
await newEntry(admin, source, '?id=one', { metadata: graphOf('http://ex.org/', TITLE, textTerm('One')) })
await newEntry(admin, source, '?id=pic')
assert.equal((await putFile(admin, `${source}/resource/pic`, content)).status, 201)
await newEntry(admin, source, '?id=inner&graphtype=list', { resource: ['one'] })
await newEntry(admin, source, '?id=outer&graphtype=list', { resource: ['inner'] })
const good = await exportOf(admin, source)

/** A context with something in it that must survive. */
const target = await newContext(admin)
await newEntry(admin, target, '?id=kept', { metadata: graphOf('http://ex.org/', TITLE, textTerm('Kept')) })
assert.equal((await putFile(admin, `${target}/resource/kept`, 'kept bytes')).status, 201)

const stateOf = async (context: string): Promise<string> => {
  const ids = (await admin.get(context)).json<string[]>()
  const entries = await Promise.all(ids.map(id => admin.get(`${context}/entry/${id}?includeAll`)))
  const files = await Promise.all(ids.map(id => admin.get(`${context}/resource/${id}`)))
  const quota = (await admin.get(`${context}/quota`)).text
  return JSON.stringify([ids, quota, ...entries.map(({ text }) => text), ...files.map(({ text }) => text)])
}
const untouched = await stateOf(target)
const namesAtFirst = (await readdir(service.folder)).sort()
const blobs = await blobsOf(service)

async function assertNothingChanged(what: string): Promise<void> {
  assert.ok((await stateOf(target)) === untouched, what)
  assert.deepEqual(await blobsOf(service), blobs, what)
}

const change = (name: string, from: string | RegExp, to: string) => () =>
  withText(good, name, text => {
    const changed = text.replace(from, to)
    assert.notEqual(changed, text, `"${name}" does not hold ${String(from)}`)
    return changed
  })

const rebuilt = (rebuild: (members: Member[]) => Member[]) => async () =>
  await archiveOf(rebuild((await membersOf(good)).slice()))

const batch = 'entries/000001.ndjson'
/** `inner` comes first by its id, then the file of `pic` ends the batch. */
const member = (name: string, text: string, isDeflated = false): Member => ({
  name,
  bytes: Buffer.from(text),
  isDeflated,
})
const without = (name: string) => rebuilt(members => members.filter(one => one.name !== name))
const renamed = (from: string, to: string) =>
  rebuilt(members => members.map(one => (one.name === from ? { ...one, name: to } : one)))

/** Puts another name of the same length into all headers, past what a writer of zips would let through. */
const patched = (from: string, to: string) => async () => {
  assert.equal(from.length, to.length)
  return Buffer.from(good.toString('latin1').replaceAll(from, to), 'latin1')
}

const hostile: Readonly<Record<string, () => Promise<Buffer>>> = {
  'not a zip': async () => Buffer.from('PK but no zip at all'),
  nothing: async () => Buffer.alloc(0),
  'cut off in the middle': async () => good.subarray(0, good.length / 2),
  'cut off at its last byte': async () => good.subarray(0, -1),
  'cut off before its directory': async () => good.subarray(0, good.indexOf('PK\u0001\u0002', 0, 'latin1')),
  'with bytes behind it': async () => Buffer.concat([good, Buffer.from('more')]),
  'a name that climbs out': patched('files/pic', '../../pic'),
  'an absolute name': patched('files/pic', '/etc/pass'),
  'a name with a backslash': patched('files/pic', 'files\\pic'),
  'a name with NUL': patched('files/pic', 'files/p\0c'),
  'another format': change('manifest.json', 'stowage-context', 'something-else'),
  'a later version': change('manifest.json', '"version":1', '"version":2'),
  'no address to come from': change('manifest.json', /"base":"[^"]*"/, '"base":"http:"'),
  'a system context': change('manifest.json', /"context":"[^"]*"/, '"context":"_principals"'),
  'a manifest that is no JSON': change('manifest.json', '{', '{{'),
  'no manifest': without('manifest.json'),
  'no summary': without('summary.json'),
  'no file where one is told of': without('files/pic'),
  'no batch': without(batch),
  'a summary that counts otherwise': change('summary.json', '"files":1', '"files":2'),
  'a file of somebody else': renamed('files/pic', 'files/one'),
  'a member nobody knows': rebuilt(members => [...members.slice(0, 1), member('run.sh', 'x'), ...members.slice(1)]),
  'a member behind the end': rebuilt(members => [...members, member('more', 'x')]),
  'a file twice': rebuilt(members => members.flatMap(one => (one.name === 'files/pic' ? [one, one] : [one]))),
  'a compressed file': rebuilt(members =>
    members.map(one => (one.name === 'files/pic' ? { ...one, isDeflated: true } : one)),
  ),
  'a file with other bytes': rebuilt(members =>
    members.map(one => (one.name === 'files/pic' ? { ...one, bytes: Buffer.from('the bytes of a FILE') } : one)),
  ),
  'a file of another size': rebuilt(members =>
    members.map(one => (one.name === 'files/pic' ? { ...one, bytes: Buffer.from('short') } : one)),
  ),
  'a digest that is none': change(batch, /"sha256":"[^"]*"/, '"sha256":"0"'),
  'an id that is a path': change(batch, '"id":"inner"', '"id":"../inner"'),
  'an id twice': change(batch, '"id":"one"', '"id":"inner"'),
  'a user among the entries': change(batch, '"graphType":"None"', '"graphType":"User"'),
  'a context among the entries': change(batch, '"graphType":"None"', '"graphType":"Context"'),
  'an entry type nobody knows': change(batch, '"entryType":"Local"', '"entryType":"Remote"'),
  'a Local entry elsewhere': change(batch, '"entryType":"Local"', '"entryType":"Local","resource":"http://ex.org/"'),
  'a Link to nowhere': change(batch, '"entryType":"Local"', '"entryType":"Link"'),
  'a slot nobody knows': change(batch, '"acl":{}', '"acl":{"owner":[]}'),
  'an access list of something else': change(batch, '"acl":{}', '"acl":{"admin":"everybody"}'),
  'a relative principal': change(batch, '"acl":{}', '"acl":{"admin":["./_principals/resource/_guest"]}'),
  'a relative subject': change(batch, '"http://ex.org/":', '"./_contexts/entry/1":'),
  'a prototype for a graph': change(batch, '"info":{}', '"info":{"__proto__":{"a":1}}'),
  'a date of no calendar': change(batch, /"created":"[^"]*"/, '"created":"2025-02-30T00:00:00.000Z"'),
  'a date after which none can be later': change(batch, /"created":"[^"]*"/, '"created":"+275760-09-13T00:00:00.000Z"'),
  'a date of the last year': change(batch, /"modified":"[^"]*"/, '"modified":"9999-12-31T23:59:59.999Z"'),
  'a last number that cannot be counted on': change(
    'manifest.json',
    /"lastNumber":\d+/,
    '"lastNumber":9007199254740991',
  ),
  'a position that cannot be counted on': change(batch, /"position":\d+/, '"position":9007199254740991'),
  'a revision whose number cannot be counted on': change(
    batch,
    /$/,
    '{"revision":{"entry":"one","number":9007199254740991,"time":"2025-01-01T00:00:00.000Z","author":"_admin","metadata":{}}}\n',
  ),
  'a list inside itself': change(
    batch,
    '{"entry":{"id":"outer"',
    '{"entry":{"list":{"id":"inner","position":1},"id":"outer"',
  ),
  'a revision without its entry': change(
    batch,
    /^/,
    '{"revision":{"entry":"one","number":1,"time":"2025-01-01T00:00:00.000Z","author":"_admin","metadata":{}}}\n',
  ),
  'a line of another kind': change(batch, /^/, '{"secret":1}\n'),
  'a line that does not end': rebuilt(members =>
    members.map(one => (one.name === batch ? { ...one, bytes: one.bytes.subarray(0, -1) } : one)),
  ),
  'bytes that are not UTF-8': rebuilt(members =>
    members.map(one =>
      one.name === batch ? { ...one, bytes: Buffer.from(one.bytes.toString().replace('One', '\xff'), 'latin1') } : one,
    ),
  ),
}

for (const [what, make] of Object.entries(hostile)) {
  test(`an archive with fault "${what}" is 400 and changes nothing (D20.8)`, async () => {
    const answer = await importInto(admin, target, await make())
    assert.equal(answer.status, 400, answer.text)
    assert.match(String(answer.json()['code']), /^invalid-(archive|graph)$/)
    assert.ok(!answer.text.includes(service.folder), 'no path of the machine is told')
    await assertNothingChanged(what)
  })
}

test('an archive with a changed byte is refused or imported unchanged, and the service keeps running', async () => {
  const copy = await newContext(admin)
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, difference) => {
      const damaged = Buffer.from(good)
      damaged[at] = (damaged[at] ?? 0) ^ difference
      const answer = await importInto(admin, copy, damaged)
      assert.ok(answer.status === 200 || answer.status === 400, `${at}: ${answer.text}`)
      if (answer.status === 200) assert.equal((await admin.get(`${copy}/resource/pic`)).text, content)
    }),
    { numRuns: 150 },
  )
  assert.equal((await admin.delete(`_contexts/entry/${copy}`)).status, 204)
})

test('nothing of an archive has become a name in the folder of the service', async () => {
  assert.deepEqual((await readdir(service.folder)).sort(), namesAtFirst)
})
