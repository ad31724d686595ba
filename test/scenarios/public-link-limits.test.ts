import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { assertRefused } from '../support/content.ts'
import { LinkVisitor, newFile, newLink, openLink } from '../support/public-links.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'
import { newTitled } from '../support/lists.ts'

const settings = { 'service.http.trusted-proxies.1': '127.0.0.1/32' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
const anna = await newUser(service, admin)
const context = await newContext(admin, [anna.id])
const BYTES = '0123456789'
const file = await newFile(anna.visitor, context, { name: 'ten.txt', bytes: BYTES })
const from = (address: string): { readonly 'x-forwarded-for': string } => ({ 'x-forwarded-for': address })

const downloadsOf = async (id: string): Promise<number | undefined> =>
  (await anna.visitor.get(`${context}/links/${file}`))
    .json<{ items: { id: string; downloads: number }[] }>()
    .items.find(link => link.id === id)?.downloads

test('a limit of downloads is exact under parallel requests (D25.11)', async () => {
  const link = await newLink(anna.visitor, context, file, { maxDownloads: 3 })
  const visitor = await LinkVisitor.at(service, link)
  assert.equal(visitor.opened.downloadsLeft, 3)
  const answers = await Promise.all(Array.from({ length: 12 }, () => visitor.file()))
  assert.equal(answers.filter(({ status }) => status === 200).length, 3)
  for (const answer of answers) if (answer.status !== 200) assertRefused(answer, 404, 'link-used-up')
  assertRefused(await openLink(service, link), 404, 'link-used-up')
  assert.equal(await downloadsOf(link.id), 3)
})

test('with a limit each GET sends the whole file and counts; parts, HEAD and lists do not get around it (D25.11)', async () => {
  const link = await newLink(anna.visitor, context, file, { maxDownloads: 2 })
  const visitor = await LinkVisitor.at(service, link)
  const head = await visitor.ask(`files/${file}`, { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers['accept-ranges'], await downloadsOf(link.id)], [200, 'none', 0])
  const part = await visitor.file(file, { range: 'bytes=5-', 'if-none-match': '*' })
  assert.deepEqual([part.status, part.text], [200, BYTES])
  assert.equal((await visitor.file()).text, BYTES)
  assertRefused(await visitor.file(file, { range: 'bytes=0-0' }), 404, 'link-used-up')
})

test('without a limit a download is a GET with the first byte: further parts are not counted again (D25.11)', async () => {
  const link = await newLink(anna.visitor, context, file)
  const visitor = await LinkVisitor.at(service, link)
  const ranges: readonly (readonly [string, string, number])[] = [
    ['bytes=0-3', '0123', 1],
    ['bytes=4-', '456789', 1],
    ['bytes=-2', '89', 1],
    ['bytes=-10', BYTES, 2],
  ]
  for (const [range, text, downloads] of ranges) {
    assert.equal((await visitor.file(file, { range })).text, text)
    assert.equal(await downloadsOf(link.id), downloads, range)
  }
  assertRefused(await visitor.file(file, { range: 'bytes=10-' }), 416, 'range-not-satisfiable')
  assert.equal(await downloadsOf(link.id), 2)
})

/** What visitors do, one after the other or at the same time, beside a model that is two numbers. */
const act = fc.constantFrom('file', 'zip', 'head', 'list', 'open', 'missing')
type Act = 'file' | 'zip' | 'head' | 'list' | 'open' | 'missing'

test('whatever visitors do, files and zips sent are never more than the limit, and all are counted (D25.11)', async () => {
  const folder = await newTitled(anna.visitor, context, 'Box', '?graphtype=list')
  const inside = await newFile(anna.visitor, context, { name: 'in.txt', bytes: 'in', list: folder })
  const paths: Record<Act, string> = {
    file: `files/${inside}`,
    zip: 'zip',
    head: `files/${inside}`,
    list: 'members',
    open: '',
    missing: `files/${file}`,
  }
  const property = fc.asyncProperty(
    fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
    fc.integer({ min: 1, max: 4 }),
    async (rounds, maxDownloads) => {
      const link = await newLink(anna.visitor, context, folder, { maxDownloads })
      const visitor = await LinkVisitor.at(service, link)
      let used = 0
      for (const round of rounds) {
        const answers = await Promise.all(
          round.map(async one => {
            const method = one === 'head' ? 'HEAD' : 'GET'
            const answer = one === 'open' ? await openLink(service, link) : await visitor.ask(paths[one], { method })
            return { one, status: answer.status }
          }),
        )
        const counted = answers.filter(({ one }) => one === 'file' || one === 'zip')
        const sent = counted.filter(({ status }) => status === 200).length
        assert.equal(sent, Math.min(counted.length, maxDownloads - used))
        used += sent
        for (const { one, status } of answers) if (one === 'missing') assert.equal(status, 404)
      }
      const { items } = (await anna.visitor.get(`${context}/links/${folder}`)).json<{
        items: { id: string; downloads: number; state: string }[]
      }>()
      const listed = items.find(({ id }) => id === link.id)
      assert.deepEqual([listed?.downloads, listed?.state], [used, used === maxDownloads ? 'used-up' : 'active'])
      assert.equal((await anna.visitor.delete(`auth/links/${link.id}`)).status, 204)
    },
  )
  await fc.assert(property, { numRuns: 25 })
})

test('an expired link ends to the millisecond, and is listed as expired for a month (D25.8)', async () => {
  const expires = new Date(service.system.now() + 1000).toISOString()
  const link = await newLink(anna.visitor, context, file, { expires })
  const visitor = await LinkVisitor.at(service, link)
  assert.equal(visitor.opened.expires, expires)
  service.system.pass(999)
  assert.equal((await visitor.file()).status, 200)
  service.system.pass(1)
  assertRefused(await visitor.file(), 404, 'link-expired')
  assertRefused(await openLink(service, link), 404, 'link-expired')
  const listed = (await anna.visitor.get('auth/links')).json<{ items: { id: string; state: string }[] }>().items
  assert.equal(listed.find(({ id }) => id === link.id)?.state, 'expired')
})

test('wrong passwords lock the network out at this link, and nobody else (D25.13)', async () => {
  const password = 'Good-Password-12'
  const link = await newLink(anna.visitor, context, file, { password })
  const before = await LinkVisitor.at(service, link, password)
  assertRefused(await openLink(service, link), 403, 'link-password-required')
  assertRefused(await openLink(service, link, 'x'.repeat(5000)), 400, 'password-too-long')
  const network = from('2001:db8::1')
  const guesses = await Promise.all(Array.from({ length: 8 }, () => openLink(service, link, 'wrong', network)))
  const codes = guesses.map(answer => answer.json()['code'])
  assert.equal(codes.filter(code => code === 'link-password-wrong').length, 5)
  assert.equal(codes.filter(code => code === 'locked-out').length, 3)
  assertRefused(await openLink(service, link, password, from('2001:db8::2')), 429, 'locked-out', 'the same /64')
  assert.equal((await openLink(service, link, password, from('192.0.2.1'))).status, 200)
  assert.equal((await before.file()).status, 200, 'who has opened it before goes on')
  const second = await newLink(anna.visitor, context, file, { password })
  assert.equal((await openLink(service, second, password, network)).status, 200, 'another link')
  service.system.pass(300_000)
  assert.equal((await openLink(service, link, password, network)).status, 200)
  const audit = (await admin.get('management/audit?event=link-refused')).text
  assert.ok(audit.includes(link.id) && !audit.includes('wrong"'))
})

test('guesses from many networks lock the link after ten times as many (D25.13)', async () => {
  const password = 'Good-Password-12'
  const link = await newLink(anna.visitor, context, file, { password })
  for (let network = 0; network < 13; network++) {
    for (let guess = 0; guess < 4; guess++) {
      const answer = await openLink(service, link, 'wrong', from(`198.51.100.${network}`))
      const isOver = network * 4 + guess >= 50
      assertRefused(answer, isOver ? 429 : 403, isOver ? 'locked-out' : 'link-password-wrong', `${network} ${guess}`)
    }
  }
})
