import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)
const entry = await newEntry(admin, context)
const file = `${context}/resource/${entry}`
const BYTES = 1_000_000

const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
const bodies = [
  { what: 'a file', to: `PUT ${file}`, type: 'text/plain', status: 201 },
  { what: 'a JSON body', to: `PUT _contexts/resource/${context}`, type: 'application/json', status: 400 },
  { what: 'a form', to: 'POST auth/cookie', type: 'application/x-www-form-urlencoded', status: 413 },
  { what: 'a form with a file', to: 'POST echo', type: 'multipart/form-data; boundary=b', begin: part, status: 400 },
  { what: 'a body that nobody reads', to: 'PUT nothing/resource/here', type: 'text/plain', status: 404 },
] as const

for (const { what, to, type, status, ...more } of bodies) {
  test(`while ${what} comes in chunks of one byte, others are answered (D35.19)`, async () => {
    const [method = '', path = ''] = to.split(' ')
    const head = [
      `${method} ${new URL(admin.base).pathname}${path} HTTP/1.1`,
      `Cookie: auth_token=${admin.cookie}`,
      `Content-Type: ${type}`,
      'Transfer-Encoding: chunked',
    ]
    const begin = 'begin' in more ? `${more.begin.length.toString(16)}\r\n${more.begin}\r\n` : ''
    // A refusal comes before the rest of its body has been read, the response to the next request afterwards.
    const next = `GET / HTTP/1.1\r\nHost: any\r\n\r\n`
    const sent = await sendRaw(admin.base, head, `${begin}${'1\r\nx\r\n'.repeat(BYTES)}0\r\n\r\n${next}`)
    let others = 0
    while (!/HTTP\/1\.1 .*HTTP\/1\.1 /s.test(sent.received())) {
      assert.equal((await admin.get('auth/user')).status, 200)
      others++
    }
    assert.match(sent.received(), new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.ok(others > 10, String(others))
    sent.socket.destroy()
  })
}

test('a file that came in chunks of many sizes has all its bytes, in their order (D35.19)', async () => {
  const sizes = [1, 2000, 3, 1, 1, 70_000, 127, 128, 1023, 1024, 5, 300_000]
  let [count, chunks, bytes] = [0, '', '']
  while (count < 4000) {
    const chunk = String(count).padEnd(count % 100 < 97 ? 1 + (count % 7) : (sizes[count % sizes.length] ?? 1), '.')
    chunks += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
    bytes += chunk
    count++
  }
  const head = [`PUT ${new URL(admin.base).pathname}${file} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`]
  const sent = await sendRaw(admin.base, [...head, 'Transfer-Encoding: chunked'], `${chunks}0\r\n\r\n`)
  await sent.until(/^HTTP\/1\.1 20/)
  assert.equal((await admin.get(file)).text, bytes)
  sent.socket.destroy()
})
