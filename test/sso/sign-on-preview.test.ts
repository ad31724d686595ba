import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountMatcher } from '../../src/features/sso/account-matcher.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { LatestSignOns } from '../../src/features/sso/latest-sign-ons.ts'
import { type PreviewedProvider, SignOnPreview, type PreviewIdentity } from '../../src/features/sso/sign-on-preview.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { policy } from '../support/sign-on-services.ts'

const groups = { before: [], after: ['g'], given: [], taken: [], orphans: [], created: [], missing: [], unusable: [] }
const changes = [{ target: 'email', before: undefined, after: 'a@b' }]

function setUp(provider: PreviewedProvider['provider'], error?: Error) {
  const planned: unknown[] = []
  const accounts = {
    plan: async (...asked: readonly unknown[]) => {
      planned.push(asked)
      if (error) throw error
      return { name: 'anna', user: { id: '7' }, profile: { changes }, groups }
    },
  } as unknown as AccountMatcher
  const latest = new LatestSignOns(new FakeSystem())
  const preview = new SignOnPreview(accounts, latest, [
    { policy: { ...policy, name: 'other' }, provider: { issuer: 'https://other' } },
    { policy, provider },
  ])
  const planOf = async (tried: PreviewIdentity) => {
    await preview.of('a', tried)
    return planned.at(-1)
  }
  return { latest, preview, planned, planOf }
}

test('a preview shows the plan of a sign-on (D27.7)', async () => {
  const { preview, planned, latest } = setUp({ issuer: 'https://idp' })
  const attributes = { mail: 'a@b' }
  const result = await preview.of('a', { name: 'x', subject: 's', attributes })
  assert.deepEqual(result, { name: 'anna', userId: '7', changes, groups })
  assert.deepEqual(planned, [[{ name: 'x', attributes, subject: 's', issuer: 'https://idp' }, policy]])
  assert.deepEqual(preview.providers, ['other', 'a'])
  assert.equal(preview.latest, latest)
  assert.equal(await preview.of('unknown', { attributes }), undefined)
})

test('a provider without an issuer yet has an empty one (D27.7)', async () => {
  const attributes = {}
  const asked = [{ name: 'x', attributes, issuer: '' }, policy]
  assert.deepEqual(await setUp({ issuer: Promise.resolve(undefined) }).planOf({ name: 'x', attributes }), asked)
  const known = [{ name: 'x', attributes, issuer: 'https://i' }, policy]
  assert.deepEqual(await setUp({ issuer: Promise.resolve('https://i') }).planOf({ name: 'x', attributes }), known)
})

test('name and subject are in the attributes, for protocols that have them there (D27.7)', async () => {
  const readName = ({ email }: Readonly<Record<string, unknown>>) => ({
    name: `read ${String(email)}`,
    nameIsUnverified: true,
  })
  const attributes = { email: 'a@b', sub: 'of the token' }
  const issuer = 'https://op'
  const { planOf } = setUp({ issuer, readName })
  const read = { name: 'read a@b', nameIsUnverified: true }
  assert.deepEqual(await planOf({ attributes }), [{ ...read, attributes, subject: 'of the token', issuer }, policy])
  const named = { name: 'typed', subject: 'typed too', attributes }
  assert.deepEqual(await planOf(named), [{ ...named, issuer }, policy])
  const odd = { email: 'a@b', sub: 7 }
  assert.deepEqual(await planOf({ attributes: odd }), [{ ...read, attributes: odd, issuer }, policy])
  const saml = setUp({ issuer })
  assert.deepEqual(await saml.planOf({ attributes }), [{ name: '', attributes, issuer }, policy])
})

test('a preview shows why a sign-on would be refused; other errors are errors (D27.7)', async () => {
  const failed = { check: 'domain', expected: 'x', received: 'y' } as const
  const { preview } = setUp({ issuer: 'i' }, new SsoRefused(failed))
  assert.deepEqual(await preview.of('a', { attributes: {} }), { refused: failed })
  const broken = new Error('broken')
  await assert.rejects(setUp({ issuer: 'i' }, broken).preview.of('a', { attributes: {} }), broken)
})
