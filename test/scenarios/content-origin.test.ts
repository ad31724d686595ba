import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, DCT, textTerm } from '../support/content.ts'
import { type Answer, type Ask, ask, type Visitor } from '../support/http-client.ts'
import { LinkVisitor, type LinkRequest, newLink } from '../support/public-links.ts'
import { newContext, newEntry, newUser, startInProcess, startProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const CONTENT = 'https://usercontent.example:8443/'
const settings = { 'service.content.base-url': CONTENT, 'service.cors': 'on', 'service.cors.origins.1': '*' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
const owner = await newUser(service, admin)
const context = await newContext(admin, [owner.id])

async function upload(visitor: Visitor, type: string, body = '<p>hello</p>'): Promise<string> {
  const path = `${context}/resource/${await newEntry(visitor, context)}`
  assert.equal((await putFile(visitor, path, body, { 'content-type': type })).status, 201)
  return path
}

const opening = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html,*/*;q=0.8' }

/** The path of the ticket to which a browser is sent that opens a file. */
async function ticketOf(visitor: Visitor, path: string): Promise<string> {
  const answer = await visitor.get(path, opening)
  assert.equal(answer.status, 302, answer.text)
  const { location = '' } = answer.headers
  assert.ok(location.startsWith(CONTENT), location)
  assert.equal(answer.headers['cache-control'], 'no-store')
  return location.slice(CONTENT.length)
}

/** A request that reaches the content origin, as a proxy passes it on. */
const atContent = (path: string, options: Ask = {}): Promise<Answer> =>
  ask(service.base + path, { ...options, headers: { host: 'usercontent.example:8443', ...options.headers } })

const page = await upload(owner.visitor, 'text/html')

test('a browser that opens an active file is sent to the content origin, which shows it and uses no cookies (D18.15)', async () => {
  for (const type of ['text/html', 'application/xhtml+xml', 'image/svg+xml', 'text/xml', 'application/rdf+xml']) {
    const path = await upload(owner.visitor, type, '<x/>')
    const cookie = `auth_token=${owner.visitor.cookie}`
    const shown = await atContent(await ticketOf(owner.visitor, path), {
      headers: { cookie, origin: 'https://a.example' },
    })
    assert.equal(shown.status, 200, type)
    assert.equal(shown.text, '<x/>')
    assert.match(String(shown.headers['content-disposition']), /^inline/, type)
    assert.ok(String(shown.headers['content-type']).startsWith(type))
    assert.deepEqual(
      Object.keys(shown.headers).filter(name => /^set-cookie|^access-control/.test(name)),
      [],
    )
    const policy = String(shown.headers['content-security-policy'])
    for (const rule of [
      'sandbox;',
      "default-src 'none'",
      "form-action 'none'",
      `frame-ancestors ${new URL(service.base).origin}`,
    ])
      assert.ok(policy.includes(rule), rule)
    assert.doesNotMatch(policy, /allow-|script-src|https:/)
    assert.equal(shown.headers['x-content-type-options'], 'nosniff')
    assert.equal(shown.headers['referrer-policy'], 'no-referrer')
    assert.equal(shown.headers['cross-origin-resource-policy'], 'same-origin')
    assert.equal(shown.headers['cache-control'], 'no-store')
  }
})

test('on the content origin scripts are text, and a PDF is not in the sandbox, where no browser shows it (D18.15)', async () => {
  const script = await atContent(
    await ticketOf(owner.visitor, await upload(owner.visitor, 'text/javascript', 'alert(1)')),
  )
  assert.equal(script.headers['content-type'], 'text/plain; charset=utf-8')
  const pdf = await atContent(await ticketOf(owner.visitor, await upload(owner.visitor, 'application/pdf', '%PDF')))
  assert.match(String(pdf.headers['content-disposition']), /^inline/)
  assert.match(String(pdf.headers['content-security-policy']), /^default-src 'none'/)
  assert.doesNotMatch(String(pdf.headers['content-security-policy']), /sandbox|script-src/)
})

test('the content origin serves parts of a file, its head, and 304 (D18.15)', async () => {
  const ticket = await ticketOf(owner.visitor, page)
  const part = await atContent(ticket, { headers: { range: 'bytes=3-7' } })
  assert.deepEqual([part.status, part.text], [206, 'hello'])
  const head = await atContent(ticket, { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, '12', ''])
  const unchanged = await atContent(ticket, { headers: { 'if-none-match': String(head.headers.etag) } })
  assert.equal(unchanged.status, 304)
})

test('programs, pages that embed a file, downloads and passive types are answered at the address of the file (D18.15)', async () => {
  const here = async (path: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> => {
    const answer = await owner.visitor.ask(path, { method, headers })
    assert.ok([200, 206].includes(answer.status), `${answer.status} ${JSON.stringify(headers)}`)
    return answer
  }
  const asAttachment = [
    await here(page, {}),
    await here(page, { accept: '*/*' }),
    await here(page, opening, 'HEAD'),
    await here(page, { ...opening, range: 'bytes=0-1' }),
    await here(`${page}?download`, opening),
    await here(page, {
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'image',
      accept: 'text/html,application/xhtml+xml',
    }),
    await here(page, {
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
      accept: 'text/html,application/xhtml+xml',
    }),
    await here(page, { ...opening, 'sec-fetch-dest': 'object' }),
  ]
  for (const { headers } of asAttachment) {
    assert.match(String(headers['content-disposition']), /^attachment/)
    assert.match(String(headers.vary), /Sec-Fetch-Mode/)
  }
  const image = await here(await upload(owner.visitor, 'image/png'), opening)
  assert.match(String(image.headers['content-disposition']), /^inline/)
  // A browser without Sec-Fetch headers says by `Accept` that a person opens the address.
  assert.equal((await owner.visitor.get(page, { accept: 'text/html,application/xhtml+xml' })).status, 302)
})

test('a request with credentials of its own gets no ticket, and the content origin does not look at them (D18.15)', async t => {
  const basic = await startInProcess(t, {
    settings: { 'service.content.base-url': CONTENT, 'service.auth.http-basic': 'on' },
  })
  const user = await basic.admin()
  const place = await newContext(user)
  const path = `${place}/resource/${await newEntry(user, place)}`
  await putFile(user, path, '<p>', { 'content-type': 'text/html' })
  const authorization = `Basic ${btoa('admin:admin-Password-12')}`
  const answer = await basic.visitor().get(path, { ...opening, authorization })
  assert.equal(answer.status, 200, answer.text)
  assert.match(String(answer.headers['content-disposition']), /^attachment/)
  const headers = { host: 'usercontent.example:8443', authorization: `Basic ${btoa('admin:wrong')}` }
  assert.equal((await ask(`${basic.base}nothing`, { headers })).status, 404)
  assert.equal((await ask(`${basic.base}nothing/entry/1`, { headers: { ...headers, host: 'a.example' } })).status, 401)
})

test('the content origin has nothing but tickets, and no other origin answers one (D18.15)', async () => {
  const ticket = await ticketOf(owner.visitor, page)
  const cookie = `auth_token=${owner.visitor.cookie}`
  const others = [
    '',
    page,
    'auth/user',
    'auth/login',
    'auth/cookie',
    'ui/',
    'management/status',
    'openapi.json',
    'files/',
    'files',
  ]
  for (const path of others) {
    const answer = await atContent(path, { headers: { cookie, accept: 'application/json' } })
    assert.equal(answer.status, 404, `${path} ${answer.text}`)
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    assert.equal((await atContent(ticket, { method, headers: { cookie } })).status, 405, method)
  const form = { auth_username: 'admin', auth_password: 'admin-Password-12' }
  const login = await atContent('auth/cookie', { form })
  assert.deepEqual([login.status, login.headers['set-cookie']], [404, undefined])
  for (const host of [
    'usercontent.example',
    'usercontent.example:443',
    'other.example:8443',
    'x.usercontent.example:8443',
  ]) {
    const answer = await ask(service.base + ticket, { headers: { host } })
    assert.equal(answer.status, 404, host)
  }
  assert.equal((await owner.visitor.get(ticket)).status, 404)
  const spelled = await ask(service.base + ticket, { headers: { host: 'UserContent.Example:8443' } })
  assert.equal(spelled.status, 200)
})

test('a changed, foreign or incomplete ticket is nothing (D18.15)', async t => {
  const ticket = await ticketOf(owner.visitor, page)
  const [payload = '', signature = ''] = ticket.slice('files/'.length).split('.')
  const fields = JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown[]
  const other = Buffer.from(JSON.stringify([...fields.slice(0, 3), Number(fields[3]) + 1, fields[4]])).toString(
    'base64url',
  )
  const elsewhere = await startInProcess(t, { settings: { 'service.content.base-url': CONTENT } })
  const stranger = await elsewhere.admin()
  const place = await newContext(stranger)
  const path = `${place}/resource/${await newEntry(stranger, place)}`
  await putFile(stranger, path, '<p>', { 'content-type': 'text/html' })
  const last = signature.slice(-1)
  const respelled = signature.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + 1)
  for (const wrong of [
    `files/${other}.${signature}`,
    `files/${payload}.${signature.slice(0, -2)}`,
    `files/${payload}.${respelled}`,
    `files/${payload}.`,
    `files/${payload}`,
    `files/${payload}.${signature}.`,
    `files/.${signature}`,
    await ticketOf(stranger, path),
  ])
    assertRefused(await atContent(wrong), 404, 'not-found', wrong)
  assert.equal((await atContent(ticket)).status, 200)
})

test('a ticket ends with its time, the login, the right and the file, and then leads back to the file (D18.15)', async () => {
  const user = await newUser(service, admin)
  const place = await newContext(admin, [user.id])
  const id = await newEntry(user.visitor, place)
  const path = `${place}/resource/${id}`
  const store = (text: string): Promise<Answer> => putFile(user.visitor, path, text, { 'content-type': 'text/html' })
  const mustHold = async (ticket: string): Promise<void> => assert.equal((await atContent(ticket)).status, 200)
  const mustLeadBack = async (ticket: string): Promise<void> => {
    const answer = await atContent(ticket)
    assert.deepEqual([answer.status, answer.headers.location, answer.text], [302, service.base + path, ''])
  }
  await store('<p>')
  const expiring = await ticketOf(user.visitor, path)
  service.system.pass(299_000)
  await mustHold(expiring)
  service.system.pass(1000)
  await mustLeadBack(expiring)

  const replaced = await ticketOf(user.visitor, path)
  await store('<p>other')
  await mustLeadBack(replaced)

  const withoutRight = await ticketOf(user.visitor, path)
  await mustHold(withoutRight)
  const info = { [`${service.base}_contexts/entry/${place}`]: {} }
  assert.equal((await admin.put(`_contexts/entry/${place}`, info)).status, 204)
  assert.equal((await user.visitor.get(path)).status, 403)
  await mustLeadBack(withoutRight)

  const signedOut = await ticketOf(admin, path)
  await mustHold(signedOut)
  const other = await service.admin()
  await admin.get('auth/logout')
  await mustLeadBack(signedOut)

  const deleted = await ticketOf(other, path)
  assert.equal((await other.delete(`${place}/entry/${id}`)).status, 204)
  await mustLeadBack(deleted)
})

test('a guest gets a ticket for what guests may read, and it ends when they may not (D18.15)', async () => {
  const root = await service.admin()
  const place = await newContext(root)
  const id = await newEntry(root, place)
  const path = `${place}/resource/${id}`
  await putFile(root, path, '<p>', { 'content-type': 'text/html' })
  const share = async (readers: readonly string[]): Promise<void> => {
    const read = readers.map(reader => ({ type: 'uri', value: `${service.base}_principals/resource/${reader}` }))
    const file = { [`${DCT}format`]: [textTerm('text/html')], 'http://entrystore.org/terms/read': read }
    const changed = await root.put(`${place}/entry/${id}`, { [service.base + path]: file })
    assert.equal(changed.status, 204, changed.text)
  }
  await share(['_guest'])
  const ticket = await ticketOf(service.visitor(), path)
  assert.equal((await atContent(ticket)).status, 200)
  await share([])
  assert.equal((await atContent(ticket)).status, 302)
  // Who may not read the file learns nothing but to sign in.
  const refused = await service.visitor().get(path, opening)
  assert.equal(refused.status, 303)
  assert.match(String(refused.headers.location), /auth\/login/)
})

test('a browser that opens an active file behind a public link is sent there as well; the ticket ends with the link (D18.15)', async () => {
  const root = await service.admin()
  const user = await newUser(service, root)
  const place = await newContext(root, [user.id])
  const id = await newEntry(user.visitor, place)
  await putFile(user.visitor, `${place}/resource/${id}`, '<p>', { 'content-type': 'text/html' })
  const opened = async (wish: LinkRequest = {}) => {
    const link = await newLink(user.visitor, place, id, wish)
    return { link, visitor: await LinkVisitor.at(service, link) }
  }
  const downloadsOf = async (link: string): Promise<unknown> =>
    (await user.visitor.get(`${place}/links/${id}`))
      .json<{ readonly items: ReadonlyArray<{ readonly id: string; readonly downloads: number }> }>()
      .items.find(item => item.id === link)?.downloads

  const { link, visitor } = await opened()
  const answer = await visitor.file(id, opening)
  assert.equal(answer.status, 302, answer.text)
  const { location = '' } = answer.headers
  assert.ok(location.startsWith(CONTENT), location)
  const ticket = location.slice(CONTENT.length)
  const shown = await atContent(ticket)
  assert.deepEqual([shown.status, shown.text], [200, '<p>'])
  assert.match(String(shown.headers['content-disposition']), /^inline/)
  assert.equal(await downloadsOf(link.id), 1)
  assert.equal((await user.visitor.delete(`auth/links/${link.id}`)).status, 204)
  const ended = await atContent(ticket)
  assert.deepEqual(
    [ended.status, ended.headers.location],
    [302, `${service.base}auth/link/${visitor.opened.link}/files/${id}`],
  )

  // A ticket can be used again, so it would get around a limit of downloads.
  const limited = await opened({ maxDownloads: 1 })
  const whole = await limited.visitor.file(id, opening)
  assert.deepEqual([whole.status, whole.text], [200, '<p>'])
  assert.match(String(whole.headers['content-disposition']), /^attachment/)
})

test('no ticket appears in the log (D18.15)', async t => {
  const logged = await startProcess(t, {
    settings: { 'service.content.base-url': 'http://content.localhost/', 'service.log.level': 'debug' },
  })
  const user = await logged.admin()
  const place = await newContext(user)
  const path = `${place}/resource/${await newEntry(user, place)}`
  await putFile(user, path, '<p>', { 'content-type': 'text/html' })
  const location = String((await user.get(path, opening)).headers.location)
  const ticket = location.slice('http://content.localhost/files/'.length)
  const headers = { host: 'content.localhost' }
  // HEAD: a client that leaves with the last byte of a file can be gone before the line is written.
  for (const query of ['', '?x=%zz'])
    assert.equal((await ask(`${logged.base}files/${ticket}${query}`, { method: 'HEAD', headers })).status, 200)
  assert.equal((await ask(`${logged.base}files/%zz${ticket}`, { headers })).status, 400)
  const lines = (): number => logged.output().split('"path":"/files/:ticket"').length - 1
  await eventually('both requests are logged', async () => lines() === 2)
  assert.ok(!logged.output().includes(ticket.slice(0, 40)))
  assert.ok(!logged.output().includes(ticket.slice(-40)))
})
