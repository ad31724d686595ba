import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DCT,
  graphOf,
  LABEL,
  modifiedOf,
  readEntry,
  RDF_TYPE,
  STORE,
  textTerm,
  TITLE,
  uriTerm,
  valuesOf,
} from '../support/content.ts'
import { idsOf, newList } from '../support/lists.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const { id: userId, visitor: user } = await newUser(service, admin)
const context = await newContext(admin, [userId])

const dateOf = async (id: string, inContext = context): Promise<string> =>
  modifiedOf(admin, inContext, await readEntry(admin, inContext, id))

test('every write to an entry moves its date and names its author once (W2.5)', async () => {
  const link = '?entrytype=linkreference&resource=http://ex.org/a&cached-external-metadata=http://ex.org/a.rdf'
  const [file, text, list, reference] = [
    await newEntry(admin, context),
    await newEntry(admin, context, '?graphtype=string'),
    await newList(admin, context),
    await newEntry(admin, context, link),
  ]
  const member = await newEntry(admin, context)
  const label = { subject: `${admin.base}${context}/resource/${file}`, value: textTerm('A label') }
  const writes = [
    [file, () => user.put(`${context}/metadata/${file}`, graphOf('http://ex.org/', TITLE, textTerm('x')))],
    [file, () => user.put(`${context}/entry/${file}`, graphOf(label.subject, LABEL, label.value))],
    [file, () => putFile(user, `${context}/resource/${file}`, 'bytes')],
    [file, () => user.delete(`${context}/resource/${file}`)],
    [text, () => user.put(`${context}/resource/${text}`, 'text')],
    [list, () => user.put(`${context}/resource/${list}`, [member])],
    [list, () => user.delete(`${context}/entry/${member}`)],
    [reference, () => user.put(`${context}/cached-external-metadata/${reference}`, {})],
  ] as const
  for (const [index, [id, write]] of writes.entries()) {
    const before = await dateOf(id)
    service.system.pass(10)
    const answer = await write()
    assert.ok(answer.status < 300, `${index}: ${answer.text}`)
    assert.ok((await dateOf(id)) > before, `write ${index}`)
    const { info } = await readEntry(admin, context, id)
    assert.deepEqual(
      info[`${admin.base}${context}/entry/${id}`]?.[`${DCT}contributor`]?.map(({ value }) => value),
      ['_admin', userId].map(who => `${admin.base}_principals/resource/${who}`),
      `write ${index}`,
    )
  }
})

test('a name moves the date, another entry that points here does not, nor does a new one in a context (W2.5)', async () => {
  const target = await newEntry(admin, context)
  const before = [await dateOf(target), await dateOf(context, '_contexts')]
  service.system.pass(10)
  const subject = `${admin.base}${context}/resource/_newId`
  const pointing = graphOf(subject, `${DCT}references`, uriTerm(`${admin.base}${context}/resource/${target}`))
  await newEntry(admin, context, '', { metadata: pointing })
  assert.deepEqual([await dateOf(target), await dateOf(context, '_contexts')], before)
  service.system.pass(10)
  assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name: 'A name' })).status, 204)
  assert.ok((await dateOf(context, '_contexts')) > (before[1] ?? ''))
})

test('cached metadata carry the date they were put; what they say follows a moved resource (W2.3, W3.3.2)', async () => {
  const query = '?entrytype=linkreference&resource=http://ex.org/old&cached-external-metadata=http://ex.org/a.rdf'
  const id = await newEntry(admin, context, query)
  const entry = `${context}/entry/${id}`
  const cached = `${context}/cached-external-metadata/${id}`
  assert.deepEqual(valuesOf(admin, await readEntry(admin, context, id), cached, `${STORE}cached`), [])
  service.system.pass(5000)
  const put = await admin.put(cached, graphOf('http://ex.org/old', TITLE, textTerm('Theirs')))
  assert.ok(put.headers['last-modified'])
  const info = (await readEntry(admin, context, id)).info
  assert.deepEqual(
    info[admin.base + cached]?.[`${STORE}cached`]?.map(({ value }) => value),
    [new Date(service.system.now()).toISOString()],
  )
  const moved = {
    [admin.base + entry]: {
      [RDF_TYPE]: [uriTerm(`${STORE}LinkReference`)],
      [`${STORE}resource`]: [uriTerm('http://ex.org/new')],
    },
  }
  assert.equal((await admin.put(entry, moved)).status, 204)
  assert.deepEqual((await admin.get(cached)).json(), graphOf('http://ex.org/new', TITLE, textTerm('Theirs')))
})

test('forms that clients use are taken: numbers as ids, the text `true` (W3.8.4, W3.8.5)', async () => {
  const list = await newList(admin, context)
  const members = [await newEntry(admin, context), await newEntry(admin, context)]
  assert.equal((await admin.put(`${context}/resource/${list}`, members.map(Number))).status, 204)
  assert.deepEqual(await idsOf(admin, context, list), members)
  const other = await newUser(service, admin)
  assert.equal((await admin.put(`_principals/resource/${other.id}`, { disabled: 'true' })).status, 204)
  assert.equal((await other.visitor.get('auth/user')).json()['id'], '_guest')
  assert.equal((await admin.put('_principals/resource/_admin', { disabled: true })).status, 400, 'not oneself')
})

test('an IRI that is none, or a value that is no string, is 400, and nothing changes (W2.1)', async () => {
  const id = await newEntry(admin, context)
  const kept = graphOf('http://ex.org/a', TITLE, textTerm('kept'))
  assert.equal((await admin.put(`${context}/metadata/${id}`, kept)).status, 204)
  for (const graph of [
    graphOf('http://ex.org/a', TITLE, { type: 'literal', value: 7 } as never),
    graphOf('no iri', TITLE, textTerm('x')),
    graphOf('http://ex.org/a', 'title', textTerm('x')),
    graphOf('http://ex.org/a', TITLE, uriTerm('http://ex.org/b c')),
    graphOf('http://ex.org/a', TITLE, { value: 'no type' } as never),
  ])
    assert.equal((await admin.put(`${context}/metadata/${id}`, graph)).status, 400, JSON.stringify(graph))
  const twice = graphOf('http://ex.org/a', TITLE, textTerm('kept'), textTerm('kept'))
  assert.equal((await admin.put(`${context}/metadata/${id}`, twice)).status, 204)
  assert.deepEqual((await admin.get(`${context}/metadata/${id}`)).json(), kept)
})
