import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DOMParser } from '@xmldom/xmldom'
import { after } from '../support/after.ts'
import { assertRefused, DCT, graphOf, STORE, textTerm, TITLE, uriTerm } from '../support/content.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { newList } from '../support/lists.ts'
import { searchPath } from '../support/search.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

const DESCRIPTION = `${DCT}description`

const service = await startInProcess(
  { after },
  {
    settings: {
      'service.syndication.url-template.portal':
        'https://portal.example/?c={contextid}&e={entryid}&u={entryuri}&r={resourceuri}',
    },
  },
)
const admin = await service.admin()

/** A user may read what these addresses stand for; by default everybody. */
async function publish(entry: string, about: readonly string[], reader = '_guest'): Promise<void> {
  const read = { [`${STORE}read`]: [uriTerm(`${admin.base}_principals/resource/${reader}`)] }
  const graph = Object.fromEntries(about.map(path => [admin.base + path, read]))
  assert.equal((await admin.put(entry, graph)).status, 204)
}

/** An entry with a title in three languages. */
async function make(context: string, id: string, more: Record<string, object[]> = {}): Promise<void> {
  service.system.pass(1000)
  const about = {
    [TITLE]: [
      { ...textTerm('Vatten'), lang: 'sv' },
      textTerm('Water, no language'),
      { ...textTerm('Water'), lang: 'en' },
    ],
    [DESCRIPTION]: [{ ...textTerm('Om <vatten> & is'), lang: 'sv' }],
    ...more,
  }
  await newEntry(admin, context, `?id=${id}`, { metadata: { [`${admin.base}${context}/resource/${id}`]: about } })
}

function parse({ status, text }: Answer): Element {
  assert.equal(status, 200, text)
  const { documentElement } = new DOMParser({
    errorHandler: (_level, message) => assert.fail(String(message)),
  }).parseFromString(text, 'text/xml')
  return documentElement ?? assert.fail(text)
}

const children = (parent: Element, name: string): Element[] =>
  Array.from(parent.childNodes as unknown as ArrayLike<Element>).filter(node => node.nodeName === name)
const child = (parent: Element, name: string): Element => children(parent, name)[0] ?? assert.fail(`no ${name}`)
const text = (parent: Element, name: string): string => child(parent, name).textContent ?? ''

async function rss(
  visitor: Visitor,
  path: string,
): Promise<{ readonly channel: Element; readonly items: readonly Element[] }> {
  const answer = await visitor.get(path)
  const feed = parse(answer)
  assert.equal(answer.headers['content-type'], 'application/rss+xml; charset=utf-8')
  assert.equal(feed.getAttribute('version'), '2.0')
  const channel = child(feed, 'channel')
  return { channel, items: children(channel, 'item') }
}

const titles = (items: readonly Element[]): string[] => items.map(item => text(item, 'title'))

test('a context, a list and a search are feeds, the latest change first (D18.28)', async () => {
  const context = await newContext(admin)
  for (const id of ['one', 'two', 'three']) await make(context, id, { [TITLE]: [textTerm(`The ${id} of ${context}`)] })
  const list = await newList(admin, context, ['one', 'two'])
  await admin.put(context, { alias: `Name of ${context}` })
  for (const path of [`${context}?`, `_contexts/resource/${context}?`]) {
    const { channel, items } = await rss(admin, `${path}syndication=rss_2.0`)
    assert.equal(text(channel, 'title'), `Name of ${context}`)
    assert.equal(text(channel, 'link'), `${admin.base}${context}`)
    assert.deepEqual(titles(items), [list, ...['three', 'two', 'one'].map(id => `The ${id} of ${context}`)])
  }
  const { channel, items } = await rss(admin, `${context}/resource/${list}?syndication=rss_2.0&feedtitle=Mine`)
  assert.equal(text(channel, 'title'), 'Mine')
  assert.equal(text(channel, 'link'), `${admin.base}${context}/resource/${list}`)
  assert.deepEqual(titles(items), [`The two of ${context}`, `The one of ${context}`])
  const path = searchPath(`title:"of ${context}"`, '&sort=title+asc&syndication=rss_2.0')
  const found = await rss(admin, path)
  assert.equal(text(found.channel, 'link'), admin.base + path)
  assert.deepEqual(
    titles(found.items),
    ['one', 'three', 'two'].map(id => `The ${id} of ${context}`),
  )
})

test('a feed of a list has the entries in it, and not those of lists in it (D18.28)', async () => {
  const context = await newContext(admin)
  for (const id of ['above', 'below']) await make(context, id, { [TITLE]: [textTerm(id)] })
  const inner = await newList(admin, context, ['below'])
  const outer = await newList(admin, context, ['above', inner])
  const { items } = await rss(admin, `${context}/resource/${outer}?syndication=rss_2.0`)
  assert.deepEqual(titles(items).toSorted(), [inner, 'above'].toSorted())
})

test('an item has its texts in the language asked for, its dates, and leads to its resource (D18.28)', async () => {
  const context = await newContext(admin)
  await make(context, 'water')
  const itemIn = async (lang: string) =>
    (await rss(admin, `${context}?syndication=rss_2.0${lang}`)).items[0] ?? assert.fail()
  const item = await itemIn('')
  assert.equal(text(item, 'title'), 'Water')
  assert.equal(text(item, 'link'), `${admin.base}${context}/resource/water`)
  assert.equal(text(item, 'guid'), `${admin.base}${context}/entry/water`)
  const now = new Date(service.system.now())
  assert.equal(text(item, 'pubDate'), now.toUTCString())
  assert.equal(text(item, 'dc:date').slice(0, 19), now.toISOString().slice(0, 19))
  const swedish = await itemIn('&lang=sv')
  assert.equal(text(swedish, 'title'), 'Vatten')
  // Readers take descriptions of RSS for HTML.
  assert.equal(text(swedish, 'description'), 'Om &lt;vatten&gt; &amp; is')
  assert.equal(text(await itemIn('&lang=sv-FI'), 'title'), 'Vatten')
  assert.equal(text(await itemIn('&lang=fi'), 'title'), 'Water, no language')
})

test('Atom has the same items (D18.28)', async () => {
  const context = await newContext(admin)
  await make(context, 'water')
  const answer = await admin.get(`${context}?syndication=atom_1.0&lang=sv`)
  const feed = parse(answer)
  assert.equal(answer.headers['content-type'], 'application/atom+xml; charset=utf-8')
  assert.equal(feed.namespaceURI, 'http://www.w3.org/2005/Atom')
  assert.equal(text(feed, 'id'), `${admin.base}${context}`)
  assert.equal(child(feed, 'link').getAttribute('href'), `${admin.base}${context}`)
  assert.equal(text(child(feed, 'author'), 'name'), new URL(admin.base).host)
  const [entry = assert.fail()] = children(feed, 'entry')
  assert.equal(text(entry, 'id'), `${admin.base}${context}/entry/water`)
  assert.equal(text(entry, 'title'), 'Vatten')
  assert.equal(text(entry, 'summary'), 'Om <vatten> & is')
  assert.equal(child(entry, 'summary').getAttribute('type'), 'text')
  assert.equal(text(entry, 'updated'), text(feed, 'updated'))
  assert.equal(new Date(text(entry, 'published')).getTime(), service.system.now())
})

test('a feed is well-formed whatever users have written (D18.28)', async () => {
  const context = await newContext(admin)
  const hostile = ']]> ]]></title><item/><script>alert(1)</script> \u0001\u{1f986}\ufffe &amp; "\r'
  await make(context, 'hostile', { [TITLE]: [textTerm(hostile)], [DESCRIPTION]: [textTerm(hostile)] })
  const { items } = await rss(admin, `${context}?syndication=rss_2.0&feedtitle=${encodeURIComponent('<"&')}`)
  assert.deepEqual(titles(items), [hostile.replace('\u0001', '\ufffd').replace('\ufffe', '\ufffd')])
})

test('items are what the caller may read of a context or list that they may read (D18.28)', async () => {
  const context = await newContext(admin)
  await make(context, 'open')
  await make(context, 'closed')
  await publish(`${context}/entry/open`, [`${context}/resource/open`, `${context}/metadata/open`])
  await publish(`${context}/entry/closed`, [`${context}/resource/closed`, `${context}/metadata/closed`], '_admin')
  const path = `${context}?syndication=rss_2.0`
  assertRefused(await service.visitor().get(path), 401, 'not-signed-in')
  const search = searchPath(`context:${admin.base.replaceAll(':', '\\:')}${context}`, '&syndication=rss_2.0')
  assert.equal((await rss(service.visitor(), search)).items.length, 1)
  await publish(`_contexts/entry/${context}`, [context])
  const [item, ...others] = (await rss(service.visitor(), path)).items
  assert.equal(text(item ?? assert.fail(), 'guid'), `${admin.base}${context}/entry/open`)
  assert.deepEqual(others, [])
  assertRefused(await admin.get('no-such-context?syndication=rss_2.0'), 404, 'not-found')
})

test('a template of the settings says where items lead; others lead where a browser can go (D18.28)', async () => {
  const context = await newContext(admin)
  await make(context, 'one')
  const linkOf = async (query: string) =>
    text((await rss(admin, `${context}?syndication=rss_2.0${query}`)).items[0] ?? assert.fail(), 'link')
  const base = encodeURIComponent(admin.base)
  assert.equal(
    await linkOf('&urltemplate=portal'),
    `https://portal.example/?c=${context}&e=one&u=${base}${context}%2Fentry%2Fone&r=${base}${context}%2Fresource%2Fone`,
  )
  assertRefused(await admin.get(`${context}?syndication=rss_2.0&urltemplate=none`), 400, 'invalid-query')
  service.system.pass(1000)
  await newEntry(admin, context, '?id=link&entrytype=link&resource=https://example.org/page')
  assert.equal(await linkOf(''), 'https://example.org/page')
  service.system.pass(1000)
  await newEntry(admin, context, '?id=urn&entrytype=link&resource=urn:x:y')
  assert.equal(await linkOf(''), `${admin.base}${context}/entry/urn`)
})

test('feedSize and limit say how many items a feed has (D18.28)', async () => {
  const context = await newContext(admin)
  for (const id of ['one', 'two', 'three']) await make(context, id)
  const search = searchPath(`context:${admin.base.replaceAll(':', '\\:')}${context}`)
  for (const path of [`${context}?syndication=rss_2.0&feedSize`, `${search}&syndication=rss_2.0&limit`]) {
    assert.equal((await rss(admin, `${path}=2`)).items.length, 2)
    assert.equal((await rss(admin, `${path}=0`)).items.length, 0)
    assertRefused(await admin.get(`${path}=x`), 400, 'invalid-query')
  }
})

test('a feed that is as before has no body: its tag changes with its items (D18.28)', async () => {
  const context = await newContext(admin)
  await make(context, 'one')
  const path = `${context}?syndication=atom_1.0`
  const first = await admin.get(path)
  const etag = first.headers['etag'] ?? assert.fail()
  const again = await admin.get(path, { 'if-none-match': etag })
  assert.deepEqual([again.status, again.text, again.headers['etag']], [304, '', etag])
  await admin.put(
    `${context}/metadata/one`,
    graphOf(`${admin.base}${context}/resource/one`, TITLE, textTerm('Changed')),
  )
  const changed = await admin.get(path, { 'if-none-match': etag })
  assert.equal(changed.status, 200)
  assert.notEqual(changed.headers['etag'], etag)
})

test('what has no feed, and an unknown form of feed, are refused (D18.28)', async () => {
  const context = await newContext(admin)
  const entry = await newEntry(admin, context, '?graphtype=string', { resource: 'text' })
  assertRefused(await admin.get(`${context}/resource/${entry}?syndication=rss_2.0`), 400, 'invalid-type')
  assertRefused(await admin.get(`${context}?syndication=rss_0.9`), 400, 'invalid-query')
  assertRefused(await admin.get('search?type=solr&query=ab&syndication=rss_2.0'), 400, 'invalid-query')
  assertRefused(await admin.get('search?type=sparql&query=abc&syndication=rss_2.0'), 501, 'not-available')
  assertRefused(await admin.get(searchPath('title:abc', '&offset=1&syndication=rss_2.0')), 400, 'invalid-query')
})
