import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, principal, readEntry, STORE, textTerm, TITLE, uriTerm } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { idsOf, newList, newTitled, parentLists } from '../support/lists.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

const move = (visitor: Visitor, to: string, entry: string, from: string | undefined, more = '') =>
  visitor.post(`${to}?moveEntry=${entry}${from === undefined ? '' : `&fromList=${from}`}${more}`)

const fillLevel = async (context: string): Promise<unknown> => (await admin.get(`${context}/quota`)).json()['fillLevel']

test('an entry moves from one list to the end of another, keeping its address (W3.8.5, D11.1)', async () => {
  const context = await newContext(admin)
  const [one, two] = [await newEntry(admin, context), await newEntry(admin, context)]
  const [from, to] = [await newList(admin, context, [one]), await newList(admin, context, [two])]
  const answer = await move(
    admin,
    `${context}/resource/${to}`,
    `${context}/entry/${one}`,
    `${context}/resource/${from}`,
  )
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.json(), { entryURI: `${admin.base}${context}/entry/${one}` })
  assert.deepEqual([await idsOf(admin, context, from), await idsOf(admin, context, to)], [[], [two, one]])
  assert.deepEqual(await parentLists(admin, context, one), [`${context}/resource/${to}`])

  const base = `${admin.base}${context}`
  assert.equal(
    (await move(admin, `${context}/resource/${from}`, `${base}/entry/${one}`, undefined, '&removeAll')).status,
    200,
  )
  assert.deepEqual([await idsOf(admin, context, from), await idsOf(admin, context, to)], [[one], [two]])
})

test('an entry that is not in the list named is 409, a list inside itself too, and nothing changes (W3.8.5)', async () => {
  const context = await newContext(admin)
  const [one, free] = [await newEntry(admin, context), await newEntry(admin, context)]
  const inner = await newList(admin, context, [one])
  const outer = await newList(admin, context, [inner])
  const [toInner, toOuter] = [`${context}/resource/${inner}`, `${context}/resource/${outer}`]
  assertRefused(await move(admin, toOuter, `${context}/entry/${one}`, toOuter), 409, 'conflict')
  assertRefused(await move(admin, toOuter, `${context}/entry/${one}`, undefined), 409, 'conflict')
  assertRefused(await move(admin, toOuter, `${context}/entry/${free}`, toInner), 409, 'conflict')
  assertRefused(await move(admin, toInner, `${context}/entry/${inner}`, toOuter), 409, 'conflict')
  assertRefused(await move(admin, toOuter, `${context}/entry/none`, toInner), 404, 'not-found')
  assertRefused(await move(admin, toOuter, 'http://ex.org/', toInner), 400, 'invalid-uri')
  assertRefused(await admin.post(toOuter), 400, 'invalid-query')
  assertRefused(
    await move(admin, `${context}/resource/${one}`, `${context}/entry/${free}`, undefined),
    405,
    'method-not-allowed',
  )
  assert.deepEqual([await idsOf(admin, context, outer), await idsOf(admin, context, inner)], [[inner], [one]])
})

test('moving takes the right to write both lists (W4.4)', async () => {
  const context = await newContext(admin)
  const { id: user, visitor } = await newUser(service, admin)
  const one = await newEntry(admin, context)
  const [mine, foreign] = [await newList(admin, context), await newList(admin, context, [one])]
  const [my, their] = [`${context}/resource/${mine}`, `${context}/resource/${foreign}`]
  const info = graphOf(admin.base + my, `${STORE}write`, principal(admin, user))
  assert.equal((await admin.put(`${context}/entry/${mine}`, info)).status, 204)
  for (const more of ['', '&removeAll'])
    assertRefused(await move(visitor, my, `${context}/entry/${one}`, their, more), 403, 'not-allowed')
  assertRefused(await move(service.visitor(), my, `${context}/entry/${one}`, their), 401, 'not-signed-in')
  assertRefused(await move(visitor, their, `${context}/entry/${one}`, their), 403, 'not-allowed')
  assert.deepEqual(await idsOf(admin, context, foreign), [one])
})

test('a move to another context takes metadata, file and room along under a new address (W3.8.5, D7.8, D11.4)', async () => {
  const [source, target] = [await newContext(admin), await newContext(admin)]
  await newEntry(admin, target)
  const about = `${admin.base}${source}/resource/_newId`
  const leaf = await newEntry(admin, source, '', { metadata: graphOf(about, TITLE, textTerm('Leaf')) })
  assert.equal((await admin.ask(`${source}/resource/${leaf}`, { method: 'PUT', body: 'twelve bytes' })).status, 201)
  const inner = await newList(admin, source, [leaf])
  const pointing = graphOf(
    `${admin.base}${source}/resource/${inner}`,
    'http://ex.org/best',
    uriTerm(`${admin.base}${source}/entry/${leaf}`),
  )
  assert.equal((await admin.put(`${source}/metadata/${inner}`, pointing)).status, 204)
  const [from, to] = [await newList(admin, source, [inner]), await newList(admin, target)]
  const answer = await move(admin, `${target}/resource/${to}`, `${source}/entry/${inner}`, `${source}/resource/${from}`)
  assert.equal(answer.status, 200, answer.text)

  const [moved = ''] = await idsOf(admin, target, to)
  assert.deepEqual(answer.json(), { entryURI: `${admin.base}${target}/entry/${moved}` })
  const [below = ''] = await idsOf(admin, target, moved)
  assert.deepEqual(await parentLists(admin, target, below), [`${target}/resource/${moved}`])
  const entry = await readEntry(admin, target, below)
  assert.deepEqual(entry.metadata, graphOf(`${admin.base}${target}/resource/${below}`, TITLE, textTerm('Leaf')))
  const best = entry.relations?.[`${admin.base}${target}/resource/${moved}`]?.['http://ex.org/best']
  assert.deepEqual(best, [uriTerm(`${admin.base}${target}/entry/${below}`)])
  assert.equal((await admin.get(`${target}/resource/${below}`)).text, 'twelve bytes')
  assert.deepEqual([await fillLevel(source), await fillLevel(target)], [0, 12])
  for (const id of [leaf, inner]) assertRefused(await admin.get(`${source}/entry/${id}`), 404, 'not-found')
  assert.deepEqual(await idsOf(admin, source, from), [])
})

test('without room in the target a move is 413 and the source stays as it was (D7.8)', async () => {
  const [source, target] = [await newContext(admin), await newContext(admin)]
  const id = await newEntry(admin, source)
  await admin.ask(`${source}/resource/${id}`, { method: 'PUT', body: 'x'.repeat(11) })
  const [from, to] = [await newList(admin, source, [id]), await newList(admin, target)]
  const attempt = () => move(admin, `${target}/resource/${to}`, `${source}/entry/${id}`, `${source}/resource/${from}`)
  await admin.put(`${target}/quota`, { quota: 10 })
  assertRefused(await attempt(), 413, 'quota-exceeded')
  assert.deepEqual([await fillLevel(source), await fillLevel(target)], [11, 0])
  assert.deepEqual([await idsOf(admin, source, from), await idsOf(admin, target, to)], [[id], []])
  assert.equal((await admin.get(`${source}/resource/${id}`)).text, 'x'.repeat(11))
  await admin.put(`${target}/quota`, { quota: 11 })
  assert.equal((await attempt()).status, 200)
  assert.deepEqual([await fillLevel(source), await fillLevel(target)], [0, 11])
})

test('moving away takes the right to administer what moves, and principals stay where they are', async () => {
  const [source, target] = [await newContext(admin), await newContext(admin)]
  const { id: user, visitor } = await newUser(service, admin)
  const one = await newEntry(admin, source)
  const [from, to] = [await newList(admin, source, [one]), await newList(admin, target)]
  for (const [context, list] of [
    [source, from],
    [target, to],
  ] as const) {
    const info = graphOf(`${admin.base}${context}/resource/${list}`, `${STORE}write`, principal(admin, user))
    assert.equal((await admin.put(`${context}/entry/${list}`, info)).status, 204)
  }
  const toTarget = `${target}/resource/${to}`
  assertRefused(
    await move(visitor, toTarget, `${source}/entry/${one}`, `${source}/resource/${from}`),
    403,
    'not-allowed',
  )
  const info = graphOf(`${admin.base}${source}/entry/${one}`, `${STORE}write`, principal(admin, user))
  assert.equal((await admin.put(`${source}/entry/${one}`, info)).status, 204)
  assert.equal((await move(visitor, toTarget, `${source}/entry/${one}`, `${source}/resource/${from}`)).status, 200)
  assertRefused(await move(admin, toTarget, `_principals/entry/${user}`, undefined), 400, 'invalid-type')
})

test('of two moves of one entry at once one succeeds; the other finds it elsewhere (409) or gone (404)', async () => {
  const [context, other] = [await newContext(admin), await newContext(admin)]
  for (const second of [context, other]) {
    const one = await newEntry(admin, context)
    const from = await newList(admin, context, [one])
    const [a, b] = [await newList(admin, context), await newList(admin, second)]
    const answers = await Promise.all(
      [`${context}/resource/${a}`, `${second}/resource/${b}`].map(to =>
        move(admin, to, `${context}/entry/${one}`, `${context}/resource/${from}`),
      ),
    )
    const failed = answers.filter(({ status }) => status !== 200)
    assert.equal(failed.length, 1, answers.map(({ text }) => text).join())
    assert.ok([409, 404].includes(failed[0]?.status ?? 0))
    const members = [...(await idsOf(admin, context, a)), ...(await idsOf(admin, second, b))]
    assert.equal(members.length, 1)
    assert.deepEqual(await idsOf(admin, context, from), [])
  }
})

test('a list moves to another context only if the mover may administer every entry in it (D11.3)', async () => {
  const [source, target] = [await newContext(admin), await newContext(admin)]
  const { id: user, visitor } = await newUser(service, admin)
  const inner = await newEntry(admin, source)
  const innerList = await newList(admin, source, [inner])
  const outer = await newList(admin, source, [innerList])
  const into = await newList(admin, target)
  const grant = async (context: string, id: string) => {
    const acl = graphOf(`${admin.base}${context}/entry/${id}`, `${STORE}write`, principal(admin, user))
    assert.equal((await admin.put(`${context}/entry/${id}`, acl)).status, 204)
  }
  await grant(source, outer)
  await grant(source, innerList)
  await grant(target, into)
  const request = () => move(visitor, `${target}/resource/${into}`, `${source}/entry/${outer}`, undefined)
  assertRefused(await request(), 403, 'not-allowed')
  assert.deepEqual(await idsOf(admin, source, innerList), [inner])
  await grant(source, inner)
  assert.equal((await request()).status, 200)
})

test('a list with too much metadata stays in its context, and each entry in it can move (D35.18)', async () => {
  const [context, other] = [await newContext(admin), await newContext(admin)]
  const about = (id: string): string => `${admin.base}${context}/resource/${id}`
  const members: string[] = []
  for (let count = 0; count < 10; count++) {
    const id = await newEntry(admin, context)
    const metadata = graphOf(about(id), 'http://example.org/text', textTerm('x'.repeat(7_000_000)))
    assert.equal((await admin.put(`${context}/metadata/${id}`, metadata)).status, 204)
    members.push(id)
  }
  const [list, to] = [await newList(admin, context, members), await newList(admin, other)]
  const refused = await move(admin, `${other}/resource/${to}`, `${context}/entry/${list}`, undefined, '&removeAll')
  assertRefused(refused, 413, 'list-too-large')
  assert.deepEqual(await idsOf(admin, context, list), members)
  const one = `${context}/entry/${members[0]}`
  assert.equal((await move(admin, `${other}/resource/${to}`, one, undefined, '&removeAll')).status, 200)
  assert.deepEqual(await idsOf(admin, context, list), members.slice(1))
})

test('a search finds what has moved at its new address, for those who may read it there', async () => {
  const [context, other] = [await newContext(admin), await newContext(admin)]
  const readers = graphOf(`${admin.base}${context}`, `${STORE}read`, principal(admin, '_guest'))
  assert.equal((await admin.put(`_contexts/entry/${context}`, readers)).status, 204)
  const one = await newTitled(admin, context, 'wanderer')
  const list = await newList(admin, context, [one])
  const to = await newList(admin, other, [])
  const hits = async (visitor: Visitor, query: string): Promise<string[]> => {
    const answer = await visitor.get(`search?type=solr&query=${encodeURIComponent(query)}`)
    const { children } = answer.json<{ resource: { children: Array<{ entryId: string; contextId: string }> } }>()
      .resource
    return children.map(({ entryId, contextId }) => `${contextId}/${entryId}`)
  }
  const queries = (id: string): string[] => ['title:wanderer', `context:${admin.base}${id} AND title:wanderer`]
  for (const visitor of [admin, service.visitor()]) {
    for (const query of queries(context)) assert.deepEqual(await hits(visitor, query), [`${context}/${one}`])
  }
  const answer = await move(admin, `${other}/resource/${to}`, `${context}/entry/${one}`, `${context}/resource/${list}`)
  const moved = answer.json<{ entryURI: string }>().entryURI.split('/').at(-1)
  for (const query of queries(other)) assert.deepEqual(await hits(admin, query), [`${other}/${moved}`])
  for (const query of [...queries(other), ...queries(context)]) {
    assert.deepEqual(await hits(service.visitor(), query), [])
  }
  assert.deepEqual(await hits(admin, queries(context)[1] ?? ''), [])
})
