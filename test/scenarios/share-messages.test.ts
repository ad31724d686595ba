import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, codeOf, GOOD_PASSWORD, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { partOf, startSmtpServer } from '../support/smtp-server.ts'

const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      ...smtp.settings,
    },
  },
)
const admin = await service.admin()

let number = 0

/** An owner with a context. */
async function newOwner() {
  const owner = await addUser(admin, `owner${++number}@example.org`)
  const visitor = service.visitor()
  assert.equal((await visitor.signIn(owner.name, GOOD_PASSWORD)).status, 200)
  return { owner, visitor, context: await newContext(admin, [owner.id]) }
}

/** Lets users or groups read one entry. */
async function share(visitor: Visitor, context: string, entry: string, readers: readonly string[]): Promise<void> {
  const read = readers.map(id => ({ type: 'uri', value: `${service.base}_principals/resource/${id}` }))
  const info = { [`${service.base}${context}/resource/${entry}`]: { 'http://entrystore.org/terms/read': read } }
  const put = await visitor.put(`${context}/entry/${entry}`, info)
  assert.equal(put.status, 204, put.text)
}

const send = (visitor: Visitor, path: string, body: object): Promise<Answer> => visitor.post(path, body)

test('a message tells a user in their language what was shared, with a link and an escaped text (D18.21)', async () => {
  const { owner, visitor, context } = await newOwner()
  const reader = await addUser(admin, 'reader@example.org')
  await admin.put(userPath(reader.id), { language: 'sv' })
  const entry = await newEntry(visitor, context)
  await share(visitor, context, entry, [reader.id])
  const text = 'Titta <b>här</b>:\nhttps://evil.example/x?a=1&b'
  const sent = await send(visitor, `${context}/messages/${entry}`, { principal: reader.id, text })
  assert.deepEqual([sent.status, sent.json()], [200, { sent: 1, withoutAddress: 0 }])

  const mail = await smtp.take('reader@example.org')
  const [plain, html] = [partOf(mail, 'text/plain'), partOf(mail, 'text/html')]
  assert.match(plain, new RegExp(`har delat ${entry} med dig`))
  assert.match(plain, new RegExp(`${service.base}ui/shared\\?item=${context}/${entry}`))
  assert.match(plain, /^> Titta <b>här<\/b>:\r?$/m)
  assert.match(html, /Titta &#60;b&#62;här&#60;\/b&#62;/)
  assert.equal(/https:\/\/evil|evil\.example/.exec(plain + html), null, 'no address in the text is one')
  assert.equal([...html.matchAll(/href=/g)].length, 1)

  const log = await admin.get(`management/audit?event=message-sent&userId=${reader.id}`)
  const [event] = log.json<{ events: ReadonlyArray<Record<string, unknown>> }>().events
  assert.deepEqual(
    [event?.['actorId'], event?.['userName'], event?.['detail']],
    [owner.id, 'reader@example.org', { entry: `${context}/${entry}` }],
  )
  assert.equal(log.text.includes('Titta'), false, 'the text is not recorded')
})

test('a title is one short line in a mail, whatever its writer put into it (D18.21)', async () => {
  const { owner, visitor, context } = await newOwner()
  const reader = await addUser(admin, 'titled@example.org')
  const entry = await newEntry(visitor, context)
  const titled = async (path: string, about: string, predicate: string, value: string): Promise<void> => {
    const put = await visitor.put(path, { [about]: { [predicate]: [{ type: 'literal', value }] } })
    assert.equal(put.status, 204, put.text)
  }
  const resource = `${service.base}${context}/resource/${entry}`
  const long = `Trip\r\n\nCall 0900 123456 \u202eat once.\n${'Buy now! '.repeat(1000)}`
  await titled(`${context}/metadata/${entry}`, resource, 'http://purl.org/dc/terms/title', long)
  const about = `${service.base}_principals/resource/${owner.id}`
  await titled(`_principals/metadata/${owner.id}`, about, 'http://xmlns.com/foaf/0.1/name', 'Anna\nBcc: all')
  await share(visitor, context, entry, [reader.id])
  assert.equal((await send(visitor, `${context}/messages/${entry}`, { principal: reader.id })).status, 200)

  const mail = await smtp.take(reader.name)
  const [why = ''] = partOf(mail, 'text/plain').split(/\r?\n\r?\n/)
  assert.match(why, /^Anna Bcc:\u2060? all \(.*Trip Call 0900 123456 at once\. (Buy now! )+.{0,8}… /u)
  assert.ok(why.length < 400, why)
})

test('members of a group each get the mail about a space, the sender and the disabled do not (D18.21)', async () => {
  const { owner, visitor, context } = await newOwner()
  const [one, two, plain, gone] = await Promise.all(
    ['one@example.org', 'two@example.org', 'plain-name', 'gone@example.org'].map(name => addUser(admin, name)),
  )
  assert.ok(one && two && plain && gone)
  await admin.put(userPath(gone.id), { disabled: true })
  const created = await admin.post('_principals?graphtype=group', { resource: { name: 'crew' } })
  const group = created.json<{ entryId: string }>().entryId
  const members = [owner, one, two, plain, gone].map(({ id }) => id)
  assert.equal((await admin.put(`_principals/resource/${group}`, members)).status, 204)
  const path = `_contexts/entry/${context}`
  const { info } = (await visitor.get(path)).json<{ info: Record<string, object> }>()
  const reader = [{ type: 'uri', value: `${service.base}_principals/resource/${group}` }]
  const changed = { ...info, [service.base + context]: { 'http://entrystore.org/terms/read': reader } }
  assert.equal((await visitor.put(path, changed)).status, 204)

  const sent = await send(visitor, `_contexts/messages/${context}`, { principal: group })
  assert.deepEqual(sent.json(), { sent: 2, withoutAddress: 1 })
  for (const { name } of [one, two]) {
    const text = partOf(await smtp.take(name), 'text/plain')
    assert.match(text, new RegExp(`ui/contexts/${context}/files`))
    assert.doesNotMatch(text, /^>/m)
  }
  assert.equal(smtp.mails.filter(({ to }) => [owner.name, gone.name].includes(to[0] ?? '')).length, 0)
})

test('a message needs the right to share, a recipient with access, and a short text without control characters', async () => {
  const { visitor, context } = await newOwner()
  const [reader, stranger] = [await addUser(admin, 'r2@example.org'), await addUser(admin, 's2@example.org')]
  const entry = await newEntry(visitor, context)
  await share(visitor, context, entry, [reader.id])
  const path = `${context}/messages/${entry}`
  const asReader = service.visitor()
  await asReader.signIn(reader.name, GOOD_PASSWORD)
  assert.equal((await send(asReader, path, { principal: reader.id })).status, 403)
  assert.equal((await send(service.visitor(), path, { principal: reader.id })).status, 401)
  assert.equal((await send(visitor, `${context}/messages/none`, { principal: reader.id })).status, 404)
  for (const body of [
    { principal: stranger.id },
    { principal: 'nobody' },
    { principal: '_users' },
    { principal: '_guest' },
    { principal: reader.id, text: 'x'.repeat(1001) },
    { principal: reader.id, text: 'a\u0007b' },
  ]) {
    const refused = await send(visitor, path, body)
    assert.deepEqual([refused.status, codeOf(refused)], [400, 'invalid-value'], JSON.stringify(body))
  }
  assert.equal(smtp.mails.filter(({ to }) => to[0] === reader.name).length, 0)
})

test('a user sends at most 100 messages an hour (D18.21)', async () => {
  const { visitor, context } = await newOwner()
  const reader = await addUser(admin, 'often@example.org')
  const entry = await newEntry(visitor, context)
  await share(visitor, context, entry, [reader.id])
  const path = `${context}/messages/${entry}`
  for (let count = 0; count < 100; count++) {
    assert.equal((await send(visitor, path, { principal: reader.id })).status, 200)
  }
  const refused = await send(visitor, path, { principal: reader.id })
  assert.deepEqual(
    [refused.status, codeOf(refused), refused.headers['retry-after']],
    [429, 'too-many-messages', '3600'],
  )
  service.system.pass(3_600_000)
  const again = service.visitor()
  await again.signIn(`owner${number}@example.org`, GOOD_PASSWORD)
  assert.equal((await send(again, path, { principal: reader.id })).status, 200)
})

test('without a mail server there are no messages', async t => {
  const silent = await startInProcess(t)
  const boss = await silent.admin()
  const context = await newContext(boss)
  assert.equal((await send(boss, `_contexts/messages/${context}`, { principal: 'x' })).status, 404)
  assert.doesNotMatch((await boss.get('ui/')).text, /data-mails/)
  assert.match((await admin.get('ui/')).text, /data-mails/)
})
