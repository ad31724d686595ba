import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { blobsOf } from '../support/blobs.ts'
import { principal, STORE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { LinkVisitor, newLink } from '../support/public-links.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { MORE_THAN_BUFFERS } from '../support/slow-reader.ts'
import { beginTransfer, connectionEnds, cookieOf, readOn, refusalOf } from '../support/transfers.ts'
import { newUpload, PIECE } from '../support/tus.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)
const file = await newEntry(admin, context)
const path = `${context}/resource/${file}`
const stored = await putFile(admin, path, 'x'.repeat(MORE_THAN_BUFFERS))
assert.equal(stored.status, 201, stored.text)

const beginDownload = (headers: Readonly<Record<string, string>>, address = path): Promise<Socket> =>
  beginTransfer('GET', service.base + address, headers)

/** An upload whose body the service has asked for. */
const beginUpload = (headers: Readonly<Record<string, string>>, entry: string): Promise<Socket> =>
  beginTransfer('PUT', `${service.base}${context}/resource/${entry}`, {
    ...headers,
    'content-type': 'text/plain',
    'content-length': '1000000',
    expect: '100-continue',
  })

/** Lets these users and groups read and write the context. */
async function open(...ids: readonly string[]): Promise<void> {
  const terms = ids.map(id => principal(admin, id))
  const info = { [`${admin.base}${context}`]: { [`${STORE}read`]: terms, [`${STORE}write`]: terms } }
  assert.equal((await admin.put(`_contexts/entry/${context}`, info)).status, 204)
}

async function newGroup(...members: readonly string[]): Promise<string> {
  const created = await admin.post('_principals?graphtype=group')
  assert.equal(created.status, 201, created.text)
  const { entryId } = created.json<{ entryId: string }>()
  assert.equal((await admin.put(`_principals/resource/${entryId}`, members)).status, 204)
  return entryId
}

async function newToken(visitor: Visitor) {
  const expires = new Date(service.system.now() + 86_400_000).toISOString()
  const answer = await visitor.post('auth/access-tokens', { name: 'transfers', expires, scopes: ['read', 'write'] })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<{ id: string; token: string }>()
}

/** A user with the right, what their requests carry, and what ends it. */
interface Revocable {
  readonly headers: Readonly<Record<string, string>>
  readonly end: () => Promise<{ readonly status: number; readonly text: string }>
}

const revocations: Readonly<Record<string, () => Promise<Revocable>>> = {
  'the user signs out': async () => {
    const { id, visitor } = await newUser(service, admin)
    await open(id)
    return { headers: cookieOf(visitor), end: () => visitor.get('auth/logout') }
  },
  'an administrator ends the session': async () => {
    const { id, visitor } = await newUser(service, admin)
    await open(id)
    const end = () => admin.ask('auth/tokens', { method: 'DELETE', json: { token: visitor.cookie } })
    return { headers: cookieOf(visitor), end }
  },
  'the access token is revoked': async () => {
    const { id, visitor } = await newUser(service, admin)
    await open(id)
    const { id: token, token: secret } = await newToken(visitor)
    const end = () => visitor.delete(`auth/access-tokens/${token}`)
    return { headers: { authorization: `Bearer ${secret}` }, end }
  },
  'the user is disabled': async () => {
    const { id, visitor } = await newUser(service, admin)
    await open(id)
    return { headers: cookieOf(visitor), end: () => admin.put(`_principals/resource/${id}`, { disabled: true }) }
  },
  'the user gets another password': async () => {
    const { id, visitor } = await newUser(service, admin)
    await open(id)
    const end = () => admin.put(`_principals/resource/${id}`, { password: 'Other-Password-34' })
    return { headers: cookieOf(visitor), end }
  },
  'the user leaves the group': async () => {
    const { id, visitor } = await newUser(service, admin)
    const group = await newGroup(id)
    await open(group)
    return { headers: cookieOf(visitor), end: () => admin.put(`_principals/resource/${group}`, []) }
  },
  'the access list changes': async () => {
    const { id, visitor } = await newUser(service, admin)
    await open(id)
    const info = { [`${admin.base}${context}`]: {} }
    return { headers: cookieOf(visitor), end: () => admin.put(`_contexts/entry/${context}`, info) }
  },
}

for (const [what, revocable] of Object.entries(revocations)) {
  test(`downloads and uploads end when ${what}; an upload leaves nothing (D3.8)`, async () => {
    const { headers, end } = await revocable()
    const entry = await newEntry(admin, context)
    const before = (await blobsOf(service)).stored
    const [whole, part] = [await beginDownload(headers), await beginDownload({ ...headers, range: 'bytes=1-' })]
    const upload = await beginUpload(headers, entry)
    const ended = await end()
    assert.ok(ended.status < 300, ended.text)
    await Promise.all([connectionEnds(whole, 'download'), connectionEnds(part, 'download of a part')])
    assert.match((await refusalOf(upload)) ?? '', /^40[13]$/)
    await eventually('nothing is kept', async () => (await blobsOf(service)).stored.length === before.length)
    assert.equal((await admin.get(`${context}/resource/${entry}`)).status, 204)
  })
}

test('the end of the right of one user ends no transfer of another (D3.8)', async () => {
  const [gone, stays] = [await newUser(service, admin), await newUser(service, admin)]
  await open(gone.id, stays.id)
  const entry = await newEntry(admin, context)
  const [theirs, download] = [
    await beginDownload(cookieOf(gone.visitor)),
    await beginDownload({ ...cookieOf(stays.visitor), connection: 'close' }),
  ]
  const upload = await beginUpload({ ...cookieOf(stays.visitor), connection: 'close' }, entry)
  // Also a change of what the others depend on, which leaves their right as it is.
  await open(stays.id)
  await connectionEnds(theirs, 'download')
  upload.write('y'.repeat(1_000_000))
  assert.ok((await readOn(download)) > MORE_THAN_BUFFERS)
  await readOn(upload)
  assert.equal((await admin.get(`${context}/resource/${entry}`)).text, 'y'.repeat(1_000_000))
})

test('a resumable upload ends with the session, and what has come is kept for its user (D3.8, D42.1)', async () => {
  const { id, name, password, visitor } = await newUser(service, admin)
  await open(id)
  const upload = await newUpload(visitor, `${context}/${await newEntry(admin, context)}`, 1_000_000)
  const sending = await beginTransfer('PATCH', service.base + upload, {
    ...cookieOf(visitor),
    ...PIECE,
    'upload-offset': '0',
    'content-length': '1000000',
    expect: '100-continue',
  })
  await visitor.get('auth/logout')
  assert.equal(await refusalOf(sending), '401')
  const again = service.visitor()
  assert.equal((await again.signIn(name, password)).status, 200)
  assert.equal((await again.get(upload)).status, 204)
})

test('the download of a public link ends when the link is revoked, or its creator loses the right (D3.8, D25.9)', async () => {
  const { id, visitor } = await newUser(service, admin)
  const own = await newContext(admin, [id])
  const shared = await newEntry(visitor, own)
  assert.equal((await putFile(visitor, `${own}/resource/${shared}`, 'x'.repeat(MORE_THAN_BUFFERS))).status, 201)
  const revoke = async (link: { readonly id: string }): Promise<unknown> =>
    await visitor.delete(`auth/links/${link.id}`)
  const disable = async (): Promise<unknown> => await admin.put(`_principals/resource/${id}`, { disabled: true })
  for (const end of [revoke, disable]) {
    const link = await newLink(visitor, own, shared)
    const { cookie, opened } = await LinkVisitor.at(service, link)
    const download = await beginDownload({ cookie }, `auth/link/${opened.link}/files/${shared}`)
    await end(link)
    await connectionEnds(download, 'download of the link')
  }
})

test('a zip of one file and an export end with the session, in the middle of the file (D3.8)', async () => {
  const root = await service.admin()
  const zip = await beginDownload(cookieOf(root), `${context}/zip?entries=${file}`)
  const exported = await beginDownload(cookieOf(root), `${context}/export`)
  await root.get('auth/logout')
  await Promise.all([connectionEnds(zip, 'zip'), connectionEnds(exported, 'export')])
})
