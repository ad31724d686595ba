import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { graphOf, textTerm, TITLE } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const { visitor: eager } = await newUser(service, admin)
const { visitor: other } = await newUser(service, admin)

const type = { 'content-type': 'text/turtle' }

/** Announces a body of 8 MiB to the validator. Resolves to the refusal, or to `undefined` when the service asks for the body. */
async function announce(visitor: Visitor): Promise<{ request: ClientRequest; refusal: IncomingMessage | undefined }> {
  const headers = { ...type, 'content-length': 8 * 2 ** 20, expect: '100-continue' }
  const cookie = `auth_token=${visitor.cookie}`
  const sent = request(`${visitor.base}validator`, { method: 'POST', agent: false, headers: { ...headers, cookie } })
  sent.flushHeaders()
  const [refusal] = await Promise.race([once(sent, 'continue'), once(sent, 'response')])
  return { request: sent, refusal: refusal as IncomingMessage | undefined }
}

/** As soon as the service has noticed that the clients have left, the memory is free again. */
const isFreeAgain = (visitor: Visitor) =>
  eventually('a body is read again', async () => {
    const { request: sent, refusal } = await announce(visitor)
    sent.on('error', () => {}).destroy()
    return refusal === undefined
  })

const validate = (visitor: Visitor) =>
  visitor.ask('validator', { method: 'POST', body: '<urn:a> <urn:b> <urn:c> .', headers: type })

test('one caller has 64 MiB for the bodies of all their requests, and takes nothing from others (D35.2)', async () => {
  const announced = []
  for (let n = 0; n < 12; n++) announced.push(await announce(eager))
  const refusals = announced.flatMap(({ refusal }) => refusal ?? [])
  // Eight bodies fit.
  assert.equal(refusals.length, 4)
  for (const { statusCode, headers } of refusals) assert.deepEqual([statusCode, headers['retry-after']], [503, '1'])
  assert.equal((await validate(other)).status, 200)
  for (const { request: sent } of announced) sent.on('error', () => {}).destroy()
  await isFreeAgain(eager)
})

test('a body whose response waits for earlier ones gives its memory back when the client leaves (D35.2)', async () => {
  const context = await newContext(admin)
  const large = graphOf(`${admin.base}${context}/resource/large`, TITLE, textTerm('x'.repeat(7_000_000)))
  await newEntry(admin, context, '?id=large')
  assert.equal((await admin.put(`${context}/metadata/large`, large)).status, 204)
  const { hostname, port, pathname } = new URL(admin.base)
  const head = (line: string, ...more: string[]) =>
    [line, `Host: ${hostname}:${port}`, `Cookie: auth_token=${admin.cookie}`, ...more, '', ''].join('\r\n')
  const read = head(`GET ${pathname}${context}/metadata/large HTTP/1.1`)
  const body = ['Content-Type: text/turtle', `Content-Length: ${8 * 2 ** 20}`]
  const validation = head(`POST ${pathname}validator HTTP/1.1`, ...body)
  for (let n = 0; n < 12; n++) {
    const socket = connect(Number(port), hostname, () => socket.write(read + read + validation))
    // The first bytes of the first response: the service has the other requests as well. The rest is never read.
    await once(socket, 'readable')
    socket.destroy()
  }
  await isFreeAgain(admin)
})
