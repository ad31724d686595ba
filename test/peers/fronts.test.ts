import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:https'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { blobsOf } from '../support/blobs.ts'
import { assertRefused } from '../support/content.ts'
import { ask, Visitor } from '../support/http-client.ts'
import { FRONT_NAME, type Front, fronts, startFront } from '../support/peers/fronts.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { freePort, type Test } from '../support/peers/peer-process.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const MIB = 2 ** 20
/** Beside 127.0.0.1, where the front itself comes from. */
const AWAY = '127.0.0.2'

/** A service behind the front, and a client that connects by TLS from its own address. */
async function behind(t: Test, front: Front) {
  const ports = { service: await freePort(), tls: await freePort(), plain: await freePort() }
  const base = `https://${FRONT_NAME}:${ports.tls}/store/`
  const service = await startProcess(t, {
    settings: {
      'service.http.port': String(ports.service),
      'service.http.trusted-proxies.1': '127.0.0.1/32',
      'service.baseurl.folder': base,
      'service.data.max-file-size': String(6 * MIB),
    },
  })
  const { ca } = await startFront(t, front, ports)
  const lookup: NonNullable<ConstructorParameters<typeof Visitor>[1]>['lookup'] = (_name, options, done) =>
    options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)
  const admin = new Visitor(base, { ca, lookup, localAddress: AWAY })
  const signedIn = await admin.signIn('admin', ADMIN_PASSWORD)
  assert.equal(signedIn.status, 200, signedIn.text)
  return { service, base, admin, signedIn, ports }
}

for (const front of fronts) {
  test(`${front.file} as shipped passes addresses, cookies, files and errors unchanged`, async t => {
    if (!requirePeer(t, front.peer)) return
    const { service, base, admin, signedIn, ports } = await behind(t, front)
    assert.match(String(signedIn.headers['set-cookie']), /; Path=\/store\/; .*; Secure/)
    assert.match(String(signedIn.headers['strict-transport-security']), /max-age/)
    const context = await newContext(admin)
    const created = await admin.post(context)
    assert.ok(created.headers.location?.startsWith(`${base}${context}/entry/`), created.headers.location)

    await t.test('the service sees the address of the client, whatever its forwarding headers claim', async () => {
      const visitor = new Visitor(base, admin.connection)
      const claims = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.2', 'x-real-ip': '192.0.2.3' }
      const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
      assert.equal((await visitor.ask('auth/cookie', { form, headers: claims })).status, 200)
      const tokens = (await visitor.get('auth/tokens')).json<Record<string, { inetAddress: string }>>()
      assert.deepEqual(new Set(Object.values(tokens).map(({ inetAddress }) => inetAddress)), new Set([`/${AWAY}`]))
    })

    await t.test('a URL reaches the service as the client wrote it', async () => {
      const direct = new Visitor(`http://127.0.0.1:${ports.service}/store/`)
      direct.cookie = admin.cookie
      const paths = ['a%2Fb', 'a%2fb/entry/%5B1%5D', 'a//b', '%25', `%5Fcontexts/entry/${context}?a=%2F&b=%26+c`]
      for (const path of paths) {
        const [here, there] = [await admin.get(path), await direct.get(path)]
        assert.deepEqual([here.status, here.text], [there.status, there.text], path)
        assert.equal(here.headers['content-type'], there.headers['content-type'], path)
      }
      assert.equal((await admin.ask('auth/user', { method: 'HEAD' })).status, 200)
    })

    await t.test('an upload streams through the proxy, with and without a known length', async () => {
      for (const headers of [{ 'content-length': String(2 * MIB) }, {}]) {
        const path = `${context}/resource/${await newEntry(admin, context)}`
        const bytes = randomBytes(2 * MIB)
        const body = new PassThrough()
        const answer = admin.ask(path, { method: 'PUT', body, headers: { 'content-type': 'text/plain', ...headers } })
        body.write(bytes.subarray(0, MIB))
        await eventually('the first half arrives', async () => (await blobsOf(service)).incoming.length === 1)
        body.end(bytes.subarray(MIB))
        assert.equal((await answer).status, 201)
        assert.ok((await admin.get(path)).bytes.equals(bytes))
      }
    })

    await t.test('of a resumable upload that breaks off, what has come through the proxy is kept', async () => {
      const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' }
      const entry = await newEntry(admin, context)
      const bytes = randomBytes(2 * MIB)
      const created = await admin.ask(`${context}/uploads/${entry}`, {
        method: 'POST',
        headers: { ...tus, 'upload-length': String(bytes.length) },
      })
      const path = String(created.headers.location).slice(base.length)
      const broken = request(base + path, {
        ...admin.connection,
        method: 'PATCH',
        headers: { ...tus, cookie: `auth_token=${admin.cookie}`, 'upload-offset': '0', 'content-length': bytes.length },
      })
      broken.on('error', () => {})
      broken.write(bytes.subarray(0, MIB))
      await eventually('the first half arrives', async () => (await blobsOf(service)).incoming.length === 1)
      broken.destroy()
      const offset = async (): Promise<number> =>
        Number((await admin.ask(path, { method: 'HEAD', headers: tus })).headers['upload-offset'])
      await eventually('it is recorded', async () => (await offset()) > 0)
      const from = await offset()
      const rest = { method: 'PATCH', body: bytes.subarray(from), headers: { ...tus, 'upload-offset': String(from) } }
      assert.equal((await admin.ask(path, rest)).status, 204)
      assert.ok((await admin.get(`${context}/resource/${entry}`)).bytes.equals(bytes))
    })

    await t.test('a large file is uploaded and downloaded, whole and in part, with its validators', async () => {
      const path = `${context}/resource/${await newEntry(admin, context)}`
      const bytes = randomBytes(5 * MIB)
      assert.equal((await putFile(admin, path, bytes)).status, 201)
      const whole = await admin.get(path)
      assert.ok(whole.bytes.equals(bytes))
      assert.match(String(whole.headers.etag), /^"[^"]+"$/)
      const part = await admin.get(path, { range: 'bytes=10-19', 'if-range': String(whole.headers.etag) })
      assert.deepEqual([part.status, part.bytes], [206, bytes.subarray(10, 20)])
      assert.equal((await admin.get(path, { 'if-none-match': String(whole.headers.etag) })).status, 304)
    })

    await t.test('a file over the limit is refused with the reason, if possible before it is sent', async () => {
      const path = `${context}/resource/${await newEntry(admin, context)}`
      assertRefused(await putFile(admin, path, Buffer.alloc(7 * MIB)), 413, 'file-too-large')
      if (front.waitsForBodies) return
      const body = new PassThrough()
      const headers = { 'content-type': 'text/plain', 'content-length': String(100 * MIB) }
      const answer = admin.ask(path, { method: 'PUT', body, headers })
      body.write('the beginning')
      assertRefused(await answer, 413, 'file-too-large')
    })

    await t.test('an address outside the base path leads to the base path', async () => {
      for (const path of ['', 'store', 'index.html', 'stores/1', '?a=b', 'server-status', '%25']) {
        const from = new URL(`/${path}`, base).href
        const answer = await ask(from, { connection: admin.connection })
        assert.ok([301, 302].includes(answer.status), `${path}: ${answer.status}`)
        const to = new URL(String(answer.headers.location), from)
        assert.equal(`${to.origin}${to.pathname}`, base, path)
      }
    })

    await t.test('without TLS, people who type only the name get to the base path', async () => {
      const headers = { host: FRONT_NAME }
      const answer = await ask(`http://127.0.0.1:${ports.plain}/`, { headers })
      assert.ok([301, 308].includes(answer.status), String(answer.status))
      const to = new URL(String(answer.headers.location))
      assert.deepEqual([to.protocol, to.hostname], ['https:', FRONT_NAME])
    })

    await t.test('signing in without TLS is impossible', async () => {
      const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
      const url = `http://127.0.0.1:${ports.plain}/store/auth/cookie`
      const answer = await ask(url, { form }).catch((error: NodeJS.ErrnoException) => error)
      if (answer instanceof Error) assert.equal(answer.code, 'ECONNREFUSED')
      else assert.deepEqual([answer.headers['set-cookie'], [308, 403].includes(answer.status)], [undefined, true])
    })
  })
}
