// Makes the fixture of an old build: `node test/upgrades/make.ts NAME FOLDER [NODE]`, where FOLDER holds that build, installed and built.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import { postgresDatabase } from '../support/peers/postgres.ts'
import { askAll, Caller, passwords, type Reply } from './questions.ts'

const TERMS = 'http://entrystore.org/terms/'
const DC = 'http://purl.org/dc/terms/'

const [name = '', build = '', node = process.execPath] = process.argv.slice(2)
const fixtures = resolve(import.meta.dirname, 'fixtures')
const data = mkdtempSync(join(tmpdir(), 'stowage-'))
const isFirst = name === '6e5b7b8'
const isOnPostgres = name.endsWith('-postgres')
/** With an access token and a session, which end ten years later. */
const keepsSessions = name.endsWith('-sessions')
const store = isOnPostgres ? await postgresDatabase() : ''
const settings: Readonly<Record<string, string>> = {
  'service.http.port': '0',
  'service.data.folder': data,
  'service.data.quota': 'on',
  ...(isFirst || name === '73ddb90' ? {} : { 'service.repository.provenance': 'on' }),
  ...(isOnPostgres ? { 'service.repository.store.url': store } : {}),
  ...(keepsSessions
    ? {
        'service.auth.token.store': 'database',
        'service.auth.token.key-file': join(data, 'token.key'),
        'service.auth.token.absolute-max-age': '315360000',
        'service.auth.cookie.max-age': '315360000',
        'service.auth.access-tokens.max-age': '315360000',
      }
    : {}),
}
const stowage = join(resolve(build), 'bin/stowage.js')
const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
const child = spawn(node, [stowage, 'serve', ...sets], {
  cwd: data,
  env: { ...process.env, SERVICE_ADMIN_PASSWORD: passwords.admin },
  stdio: ['ignore', 'pipe', 'inherit'],
})
process.once('exit', () => child.kill('SIGKILL'))
const base = await new Promise<string>((found, fail) => {
  child.once('exit', () => fail(new Error('the build did not start')))
  createInterface(child.stdout).on('line', line => {
    const address = /serves (\S+)/.exec(line)?.[1]
    if (address !== undefined) found(address)
  })
})

const admin = new Caller(base)
assert.equal(await admin.signIn('admin', passwords.admin), 200)

async function done(reply: Promise<Reply>): Promise<Reply> {
  const found = await reply
  assert.ok(found.status < 300, JSON.stringify(found))
  return found
}
const uri = (id: string) => ({ type: 'uri', value: `base:/_principals/resource/${id}` })
const info = (
  context: string,
  id: string,
  rights: Record<string, readonly string[]>,
  resource = `${context}/resource/${id}`,
) => {
  const terms = (prefix: string) =>
    Object.fromEntries(
      Object.entries(rights)
        .filter(([right]) => right.startsWith(prefix))
        .map(([right, ids]) => [TERMS + right.slice(prefix.length), ids.map(uri)]),
    )
  return { [`base:/${context}/entry/${id}`]: terms('entry-'), [`base:/${resource}`]: terms('resource-') }
}
const titled = (id: string, title: string, description: string) => ({
  [`base:/photos/resource/${id}`]: {
    [`${DC}title`]: [{ type: 'literal', value: title, lang: 'en' }],
    [`${DC}description`]: [{ type: 'literal', value: description }],
  },
})

for (const user of ['anna', 'bert', 'carl']) {
  const password = `${user.charAt(0).toUpperCase()}${user.slice(1)}-Password-12`
  await done(admin.send('POST', `_principals?graphtype=user&id=${user}`, { resource: { name: user, password } }))
}
await done(admin.send('POST', '_principals?graphtype=group&id=team', { resource: { name: 'team' } }))
await done(admin.send('PUT', '_principals/resource/team', ['anna', 'bert']))
for (const [context, rights] of [
  ['photos', { 'entry-write': ['anna'] }],
  ['open', { 'resource-read': ['_guest'], 'resource-write': ['team'] }],
] as const) {
  await done(admin.send('POST', `_contexts?graphtype=context&id=${context}`, { resource: { name: `The ${context}` } }))
  await done(admin.send('PUT', `_contexts/entry/${context}`, info('_contexts', context, rights, context)))
}
await done(admin.send('PUT', 'photos/quota', { quota: 100 }))

const anna = new Caller(base)
assert.equal(await anna.signIn('anna', passwords.anna), 200)
for (const [id, content] of Object.entries({ one: 'Hello', two: 'A second file\n', gone: 'deleted' })) {
  await done(anna.send('POST', `photos?id=${id}`))
  await done(anna.send('PUT', `photos/resource/${id}`, content, 'text/plain'))
}
await done(anna.send('PUT', 'photos/metadata/one', titled('one', 'Sunset', 'at the harbour')))
await done(anna.send('PUT', 'photos/metadata/one', titled('one', 'Sunrise', 'at the harbour')))
await done(anna.send('PUT', 'photos/metadata/two', titled('two', 'A sunrise for the team', 'in the mountains')))
await done(
  anna.send('PUT', 'photos/entry/two', info('photos', 'two', { 'entry-write': ['anna'], 'resource-read': ['team'] })),
)
await done(anna.send('POST', 'photos?id=note&graphtype=string', { resource: 'A note' }))
await done(
  anna.send('POST', 'photos?id=graph&graphtype=graph', { resource: titled('graph', 'A graph', 'in an entry') }),
)
await done(anna.send('POST', 'photos?id=link&entrytype=link&resource=https://example.org/a'))
await done(
  anna.send(
    'POST',
    'photos?id=reference&entrytype=reference&resource=https://example.org/b&cached-external-metadata=https://example.org/b.rdf',
  ),
)
await done(anna.send('POST', 'photos?id=album&graphtype=list', { resource: ['two', 'one'] }))
// The first builds have no trash.
const trashed = await anna.send('POST', 'photos/trash/gone')
if (trashed.status >= 300) await done(anna.send('DELETE', 'photos/entry/gone'))
const bert = new Caller(base)
assert.equal(await bert.signIn('bert', passwords.bert), 200)
await done(bert.send('POST', 'open?id=public'))
await done(bert.send('PUT', 'open/resource/public', 'For everybody', 'text/plain'))
await done(admin.send('PUT', '_principals/resource/carl', { disabled: true }))

// Builds differ in these: a build without them refuses.
const created = await anna.send('POST', 'auth/access-tokens', {
  name: 'Program',
  expires: '2036-11-01',
  scopes: ['read'],
})
if (keepsSessions) assert.equal(created.status, 201)
const { token } = (created.status === 201 ? created.json : {}) as { token?: string }
await anna.send('POST', 'photos/links/two', { expires: '2099-01-01' })

const expected = await askAll(base, { token, ...(keepsSessions ? { cookie: anna.cookie } : {}) })
child.kill('SIGTERM')
assert.deepEqual(await once(child, 'exit'), [0, null])
// A store makes these files again.
const left = ['lock', 'reserve', '*-shm', '*-wal'].map(pattern => `--exclude=${pattern}`)
const archive = (file: string, folder: string) =>
  execFileSync('tar', ['-czf', join(fixtures, file), ...left, '-C', folder, '.'])
if (isOnPostgres) writeFileSync(join(data, 'dump.sql'), execFileSync('pg_dump', ['--no-owner', store]))
archive(`${name}.tar.gz`, data)
writeFileSync(join(fixtures, `${name}.json.gz`), gzipSync(JSON.stringify(expected)))
// A backup has no sessions.
if (!isFirst && !keepsSessions) {
  const backup = mkdtempSync(join(tmpdir(), 'stowage-'))
  execFileSync(node, [stowage, 'backup', join(backup, 'b'), ...sets.slice(2)], { stdio: 'inherit' })
  archive(`${name}-backup.tar.gz`, join(backup, 'b'))
  rmSync(backup, { recursive: true })
}
rmSync(data, { recursive: true })
