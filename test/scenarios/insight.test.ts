import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { repository, startInProcess } from '../support/service.ts'

const SECRET = 'a-very-secret-token'
const service = await startInProcess({ after }, { settings: { 'service.metrics.token': SECRET } })
const admin = await service.admin()
const anna = await addUser(admin, 'anna@example.org')

interface Setting {
  readonly key: string
  readonly value: string
  readonly isSet: boolean
  readonly origin: string
  readonly area: string
  readonly meaning: string
}

test('administrators read the settings in effect, with their secrets masked (D14.18)', async () => {
  const answer = await admin.get('management/settings')
  assert.equal(answer.status, 200)
  const { settings } = answer.json<{ settings: readonly Setting[] }>()
  const named = (key: string): Setting | undefined => settings.find(setting => setting.key === key)
  assert.equal(named('service.metrics.token')?.value, '********')
  assert.equal(named('service.metrics.token')?.isSet, true)
  assert.ok(!answer.text.includes(SECRET))
  assert.deepEqual(named('service.repository.store.url')?.isSet ?? false, process.env['STORE'] === 'postgres')
  assert.ok(settings.length > 50)
  assert.equal(named('service.baseurl.folder')?.value.startsWith('http\\'), false, 'values have no escapes')
  // The same text as in the reference.
  const reference = await readFile(join(repository, 'docs/configuration.md'), 'utf8')
  for (const { key, area, meaning } of settings) {
    assert.ok(reference.includes(`\n## ${area}\n`), key)
    assert.ok(reference.includes(meaning.replaceAll('|', '\\|')), key)
  }
})

test('administrators read what doctor finds, and many who ask at once share one examination', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => admin.get('management/findings')))
  for (const answer of answers) {
    assert.equal(answer.status, 200)
    const { findings } = answer.json<{ findings: ReadonlyArray<{ level: string; text: string }> }>()
    assert.ok(findings.some(({ level, text }) => level === 'ok' && text.startsWith('base address: ')))
    assert.ok(!answer.text.includes(SECRET))
  }
})

test('administrators read requests, sign-ins and storage of the last day', async () => {
  const visitor = service.visitor()
  await visitor.signIn(anna.name, 'Wrong-Password-99')
  await visitor.signIn(anna.name, GOOD_PASSWORD)
  const answer = await admin.get('management/history')
  assert.equal(answer.status, 200)
  const { points, interval } = answer.json<{
    interval: number
    points: ReadonlyArray<{ time: string; requests: number; signIns: number; refusedSignIns: number }>
  }>()
  assert.equal(interval, 300)
  const [point] = points
  assert.ok(point && point.requests >= 3 && point.signIns >= 1 && point.refusedSignIns === 1, JSON.stringify(points))
})

test('other users and guests read none of it', async () => {
  const visitor = service.visitor()
  for (const path of ['settings', 'findings', 'history'])
    assert.equal((await visitor.get(`management/${path}`)).status, 401, path)
  await visitor.signIn(anna.name, GOOD_PASSWORD)
  for (const path of ['settings', 'findings', 'history'])
    assert.equal((await visitor.get(`management/${path}`)).status, 403, path)
})

test('the sessions of all users are searched by name, address and user agent', async () => {
  const visitor = service.visitor()
  await visitor.signIn(anna.name, GOOD_PASSWORD)
  const users = async (query: string): Promise<readonly string[]> => {
    const answer = await admin.get(`auth/tokens?user=*&query=${encodeURIComponent(query)}`)
    const logins = Object.values(answer.json<Record<string, { userName: string }>>())
    assert.equal(answer.headers['x-total-count'], String(logins.length))
    return [...new Set(logins.map(({ userName }) => userName))].sort()
  }
  assert.deepEqual(await users('ANNA@'), [anna.name])
  assert.deepEqual(await users('127.0.0'), ['admin', anna.name])
  assert.deepEqual(await users('no such device'), [])
  assert.equal((await visitor.get('auth/tokens?user=*&query=admin')).status, 403)
})
