import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { stowage } from '../support/cli.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { restore, succeeded } from '../support/backups.ts'
import { startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { askAll, Caller, type Expected, passwords } from './questions.ts'

const fixtures = join(import.meta.dirname, 'fixtures')
const archives = readdirSync(fixtures).filter(file => file.endsWith('.tar.gz'))

/** Lists where `actual` lacks or changes something of `expected`; new members of objects are no difference. */
function differences(expected: unknown, actual: unknown, path = ''): string[] {
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
  if (!isObject(expected) || !isObject(actual)) {
    return Object.is(expected, actual) ? [] : [`${path}: ${JSON.stringify(expected)} became ${JSON.stringify(actual)}`]
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length !== actual.length) {
    return [`${path}: ${JSON.stringify(expected)} became ${JSON.stringify(actual)}`]
  }
  const values = actual as Record<string, unknown>
  return Object.entries(expected)
    .filter(([key]) => !(key === 'expires' && path.includes('photos/trash')))
    .flatMap(([key, value]) => differences(value, values[key], `${path} > ${key}`))
}

/** What a build did not have it answered with 404, and `?rev` with the present metadata. Of others' entries, later builds show less than the first ones. */
const comparable = (replies: Expected['replies']): unknown =>
  Object.fromEntries(
    Object.entries(replies).map(([who, own]) => [
      who,
      Object.fromEntries(
        Object.entries(own).filter(
          ([path, reply]) =>
            reply.status !== 404 &&
            !(path.includes('?rev=') && isDeepStrictEqual(reply, own['photos/metadata/one'])) &&
            (who === 'admin' || who === 'anna' || path.includes('/resource/')),
        ),
      ),
    ]),
  )

for (const archive of archives) {
  test(`the present program keeps what the build of ${archive} stored`, async t => {
    const isOnPostgres = archive.endsWith('-postgres.tar.gz')
    if (isOnPostgres && !requirePeer(t, postgres)) return
    const unpacked = await temporaryFolder()
    execFileSync('tar', ['-xzf', join(fixtures, archive), '-C', unpacked])
    const isBackup = archive.includes('-backup')
    const folder = isBackup ? await temporaryFolder() : unpacked
    if (isBackup) succeeded(await restore(unpacked, folder))
    const name = archive.replace(/(?:-backup)?\.tar\.gz$/, '.json.gz')
    const expected = JSON.parse(gunzipSync(readFileSync(join(fixtures, name))).toString()) as Expected
    const url = isOnPostgres ? await postgresDatabase() : undefined
    if (url !== undefined) execFileSync('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-f', join(folder, 'dump.sql'), url])
    const database = url === undefined ? {} : { 'service.repository.store.url': url }
    // The clock is the real one: the trash and the audit log must not expire.
    const settings = {
      'service.trash.days': '0',
      'service.audit.retention': '36500d',
      'service.data.quota': 'on',
      'service.repository.provenance': 'on',
      ...database,
      ...(expected.session
        ? {
            'service.auth.token.store': 'database',
            'service.auth.token.key-file': join(folder, 'token.key'),
            'service.auth.token.absolute-max-age': '315360000',
            'service.auth.cookie.max-age': '315360000',
          }
        : {}),
    }
    const service = await startProcess(t, { folder, settings })
    const { audit, ...found } = await askAll(service.base, {
      token: expected.accessToken?.token,
      cookie: expected.session?.cookie,
    })
    const { audit: earlier, ...rest } = expected
    assert.deepEqual(differences({ ...rest, replies: comparable(rest.replies) }, found), [])
    const events = (trail: unknown): readonly unknown[] => (trail as { events: readonly unknown[] }).events
    assert.deepEqual(differences(events(earlier), events(audit).slice(-events(earlier).length)), [])

    const admin = new Caller(service.base)
    assert.equal(await admin.signIn('admin', passwords.admin), 200)
    // A file in the trash counts.
    const kept = expected.replies.anna['photos/trash']?.status === 200 ? ([26, 3] as const) : ([19, 2] as const)
    for (const [owner, bytes, files] of [
      ['users/anna', ...kept],
      ['users/bert', 13, 1],
      ['contexts/photos', ...kept],
      ['contexts/open', 13, 1],
    ] as const) {
      const { json } = await admin.send('GET', `quota/${owner}`)
      assert.deepEqual(differences({ fillLevel: bytes, files }, json, owner), [])
    }
    assert.equal(await service.stop(), 0)
    const place = Object.entries({ 'service.data.folder': folder, ...database }).flatMap(([key, value]) => [
      '--set',
      `${key}=${value}`,
    ])
    assert.match(succeeded(await stowage(folder, ['fsck', ...place])), /; 0 findings/)
  })
}
