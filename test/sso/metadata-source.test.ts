import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createLog } from '../../src/base/log.ts'
import { type IdpMetadata, parseMetadata } from '../../src/features/saml/metadata.ts'
import { MetadataCopies, MetadataSource, type MetadataSourceOptions } from '../../src/features/sso/metadata-source.ts'
import { MetadataRefused } from '../../src/features/sso/refusal.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { keptLog } from '../support/kept-log.ts'
import { buildMetadata, IDP, keyNamed } from '../support/saml-idp.ts'
import { startSamlIdp } from '../support/saml-service.ts'
import { newDatabase } from '../support/store.ts'
import { eventually, until } from '../support/waiting.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const log = createLog('silent')
const MINUTE = 60_000

const newSource = (
  options: MetadataSourceOptions,
  system: FakeSystem,
  copies?: MetadataCopies<IdpMetadata>,
): MetadataSource<IdpMetadata> =>
  new MetadataSource(options, { system, log, copies, parse: async (text, now) => parseMetadata(text, now) })

async function start(t: Parameters<typeof startSamlIdp>[0], maxAge = 1000) {
  const idp = await startSamlIdp(t)
  const system = new FakeSystem()
  return { idp, system, source: newSource({ idp: 'a', url: idp.metadataUrl, maxAge }, system) }
}

test('nothing is fetched before it is needed, and then once for a thousand waiting requests (D8.6)', async t => {
  const { idp, source } = await start(t)
  assert.equal(idp.asked(), 0)
  const all = await Promise.all(Array.from({ length: 1000 }, () => source.current()))
  assert.equal(new Set(all).size, 1)
  assert.equal(all[0]?.entityId, idp.entityId)
  assert.equal(idp.asked(), 1)
})

test('a thousand waiting requests are refused after one attempt', async t => {
  const { idp, source } = await start(t)
  idp.misbehave = (_, response) => response.writeHead(503).end()
  const all = await Promise.allSettled(Array.from({ length: 1000 }, () => source.current()))
  assert.ok(all.every(({ status }) => status === 'rejected'))
  assert.equal(idp.asked(), 1)
})

test('the age is measured by the monotonic clock (D8.6)', async t => {
  const { idp, source, system } = await start(t)
  await source.current()
  system.jump(10 * 86_400_000)
  await source.current()
  assert.equal(idp.asked(), 1)
  system.pass(999_999)
  await source.current()
  assert.equal(idp.asked(), 1)
  system.pass(1)
  await source.current()
  assert.equal(idp.asked(), 2)
  assert.equal((await source.status()).loadedAt, system.now())
})

const failures: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'a status of 500': response => response.writeHead(500).end(),
  'a redirect': response => response.writeHead(302, { location: '/other' }).end(),
  HTML: response => response.end('<!doctype html><title>Sign in</title>'),
  'half of it': response => response.end(buildMetadata().slice(0, 500)),
  'a connection that breaks': response =>
    response.writeHead(200, { 'content-length': '100000' }).write('<x>', () => response.destroy()),
  'more than 8 MiB': response => response.end(Buffer.alloc(8_388_609, 0x20)),
  'bytes that are no text': response => response.end(Buffer.from([0xff, 0xfe])),
}

for (const [title, misbehave] of Object.entries(failures)) {
  test(`${title} instead of metadata: the last good copy is kept and the address left alone for a while (D8.6)`, async t => {
    const { idp, source, system } = await start(t)
    const good = await source.current()
    idp.misbehave = (_, response) => misbehave(response)
    system.pass(1_000_000)
    assert.equal(await source.current(), good)
    // A request waits for fresh metadata for one second at most, so the failure may be reported after it.
    await eventually('the failure is reported', async () => (await source.status()).problem !== undefined)
    assert.equal(idp.asked(), 2)
    system.pass(999)
    await source.current()
    assert.equal(idp.asked(), 2)
    idp.misbehave = undefined
    system.pass(1)
    await until(
      () => source.current(),
      copy => copy !== good,
    )
    assert.equal((await source.status()).problem, undefined)
    assert.equal(idp.asked(), 3)
  })
}

test('a copy is not used after its own end, even if no other can be loaded (D8.6)', async t => {
  const { idp, source, system } = await start(t, 1_000_000)
  idp.publish({ attributes: ` validUntil="${new Date(system.now() + 500_000).toISOString()}"` })
  await source.current()
  system.pass(499_999)
  await source.current()
  system.pass(1)
  idp.misbehave = (_, response) => response.writeHead(500).end()
  await assert.rejects(source.current(), {
    failed: { check: 'metadata', expected: idp.metadataUrl, received: `${idp.metadataUrl}: status 500` },
  })
  idp.misbehave = undefined
  idp.publish({})
  system.pass(MINUTE)
  assert.equal((await source.current()).entityId, idp.entityId)
})

test('attempts to load what cannot be loaded are a second apart, then twice as long each time, up to a limit (D8.6)', async t => {
  const idp = await startSamlIdp(t)
  idp.misbehave = (_, response) => response.writeHead(500).end()
  const gone = pathToFileURL(join(await temporaryFolder(), 'none.xml')).href
  for (const [url, pauses] of [
    [idp.metadataUrl, [1, 2, 4, 8, 16, 32, 60, 60]],
    [gone, [1, 2, 4, 8, 10, 10]],
  ] as const) {
    const system = new FakeSystem()
    const { log: kept, lines } = keptLog()
    const parse = async (text: string, now: number) => parseMetadata(text, now)
    const source = new MetadataSource({ idp: 'a', url, maxAge: 1000 }, { system, log: kept, copies: undefined, parse })
    const attempts = async (): Promise<number> => {
      await assert.rejects(source.current(), { name: 'SsoRefused' })
      return lines.length
    }
    for (const [at, pause] of pauses.entries()) {
      assert.equal(await attempts(), at + 1, url)
      system.pass(pause * 1000 - 1)
      assert.equal(await attempts(), at + 1, url)
      system.pass(1)
    }
    system.pass(3_600_000)
    const before = await attempts()
    system.pass(1000)
    assert.equal(await attempts(), before + 1, 'after a long time the pauses begin anew')
  }
})

test('an unknown key causes an early reload at once, also after a failure; it reports whether the keys have changed (D8.6)', async t => {
  const { idp, source, system } = await start(t, 1_000_000)
  const used = await source.current()
  assert.equal(await source.reloadForUnknownKey(used), false)
  assert.equal(idp.asked(), 2)
  idp.publish({ keys: [keyNamed('other')] })
  assert.equal(await source.reloadForUnknownKey(used), false, 'the second one within a second')
  assert.equal(idp.asked(), 2)
  system.pass(1000)
  const all = await Promise.all(Array.from({ length: 100 }, () => source.reloadForUnknownKey(used)))
  assert.ok(all.every(Boolean), 'all who waited learn it')
  assert.equal(await source.reloadForUnknownKey(used), true, 'who comes later with the old copy learns it too')
  assert.equal(idp.asked(), 3)
  const present = await source.current()
  idp.misbehave = (_, response) => response.writeHead(500).end()
  system.pass(1_000_000_000)
  assert.equal(await source.current(), present)
  await eventually('the failure is reported', async () => (await source.status()).problem !== undefined)
  assert.equal(idp.asked(), 4)
  idp.misbehave = undefined
  idp.publish({ keys: [keyNamed('idp')] })
  assert.equal(await source.current(), present, 'it pauses after the failure')
  assert.equal(await source.reloadForUnknownKey(present), true)
  assert.equal(idp.asked(), 5)
  assert.deepEqual((await source.current()).keys, [keyNamed('idp').pem])
  idp.misbehave = (_, response) => response.writeHead(500).end()
  assert.equal(await source.reloadForUnknownKey(await source.current()), false)
  assert.deepEqual((await source.current()).keys, [keyNamed('idp').pem])
})

test('a provider that changes its key right after the first load is not refused', async t => {
  const { idp, source } = await start(t, 1_000_000)
  const used = await source.current()
  idp.publish({ keys: [keyNamed('other')] })
  assert.equal(await source.reloadForUnknownKey(used), true)
  assert.deepEqual((await source.current()).keys, [keyNamed('other').pem])
})

test('a maximum age below a minute is kept to (D8.6)', async t => {
  const { idp, source, system } = await start(t, 5)
  await source.current()
  for (let loads = 2; loads < 5; loads++) {
    system.pass(5000)
    await source.current()
    assert.equal(idp.asked(), loads)
  }
})

test('a slow address delays no request while there is a valid copy (D8.6)', async t => {
  const { idp, source, system } = await start(t)
  const good = await source.current()
  const held: ServerResponse[] = []
  idp.misbehave = (_, response) => void held.push(response)
  system.pass(1_000_000)
  assert.equal(await source.current(), good)
  assert.equal(held.length, 1, 'the load goes on in the background')
  held[0]?.end(buildMetadata({ entityId: 'urn:new' }))
  await eventually('the new metadata are used', async () => (await source.current()).entityId === 'urn:new')
})

test('the last good copy survives a restart, for the same address only (D8.6)', async t => {
  const idp = await startSamlIdp(t)
  const system = new FakeSystem()
  const database = await newDatabase(t)
  const copies = new MetadataCopies<IdpMetadata>(database)
  const options = { idp: 'a', url: idp.metadataUrl, maxAge: 1000 }
  const before = await newSource(options, system, copies).current()
  const loadedAt = system.now()
  idp.misbehave = (_, response) => response.writeHead(503).end()
  system.pass(10_000)
  const restarted = newSource(options, system, copies)
  assert.deepEqual({ ...(await restarted.current()), validUntil: undefined }, before)
  assert.equal((await restarted.status()).loadedAt, loadedAt)
  assert.match((await restarted.status()).problem ?? '', /status 503/)
  await assert.rejects(newSource({ ...options, url: `${idp.metadataUrl}?other` }, system, copies).current(), {
    name: 'SsoRefused',
  })
  idp.misbehave = undefined
  idp.publish({ keys: [keyNamed('other')] })
  assert.deepEqual((await newSource(options, system, copies).current()).keys, [keyNamed('other').pem])
})

test('a file is read, again after its age, and kept in mind when it is gone (D8.6)', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'idp & more.xml')
  await writeFile(file, buildMetadata())
  const system = new FakeSystem()
  const source = newSource({ idp: 'a', url: pathToFileURL(file).href, maxAge: 1000 }, system)
  assert.equal((await source.current()).entityId, IDP)
  await rm(file)
  system.pass(1_000_000)
  assert.equal((await source.current()).entityId, IDP)
  assert.match((await source.status()).problem ?? '', /ENOENT/)
  await writeFile(file, buildMetadata({ entityId: 'urn:new' }))
  system.pass(MINUTE)
  assert.equal((await source.current()).entityId, 'urn:new')
})

test('of a certificate near its end is warned a month, a week and a day before, and once when it has expired (D8.6)', async () => {
  const DAY = 86_400_000
  const system = new FakeSystem()
  const warned: unknown[] = []
  const file = join(await temporaryFolder(), 'idp.xml')
  await writeFile(file, '')
  const expires = system.now() + 31.5 * DAY
  const metadata = {
    entityId: IDP,
    keys: [],
    validUntil: undefined,
    certificates: [{ subject: 'CN=idp', sha256: 'aa', expires }],
  }
  const source = new MetadataSource(
    { idp: 'a', url: pathToFileURL(file).href, maxAge: 1000 * DAY },
    {
      system,
      log: { ...log, warn: (entry: unknown, text: string) => warned.push([entry, text]) } as unknown as typeof log,
      copies: undefined,
      parse: async () => metadata,
    },
  )
  source.warnOfExpiry()
  await source.current()
  const days = () => {
    const given = warned.splice(0) as Array<[{ readonly daysLeft: number }, string]>
    return given.map(([{ daysLeft }, text]) => [daysLeft, text])
  }
  days()
  for (const [passed, expected] of [
    [0, []],
    [1, [[30, 'a certificate expires soon']]],
    [10, []],
    [13, [[7, 'a certificate expires soon']]],
    [5, []],
    [1, [[1, 'a certificate expires soon']]],
    [1, []],
    [1, [[-1, 'a certificate has expired']]],
    [10, []],
  ] as const) {
    system.pass(passed * DAY)
    source.warnOfExpiry()
    source.warnOfExpiry()
    assert.deepEqual(days(), expected, `${passed}`)
  }
})

test('only https, or http from this machine, is fetched (D8.6)', async () => {
  for (const url of [
    'http://idp.example/metadata',
    'http://127.0.0.1.evil.example/',
    'ftp://127.0.0.1/x',
    'data:text/xml,x',
  ]) {
    const source = newSource({ idp: 'a', url, maxAge: 1000 }, new FakeSystem())
    await assert.rejects(source.current(), { name: 'SsoRefused' })
    assert.match((await source.status()).problem ?? '', /only https/)
  }
})

const parsing = (parse: () => Promise<IdpMetadata>, system = new FakeSystem()) =>
  new MetadataSource<IdpMetadata>({ idp: 'a', url: fileWithNothing, maxAge: 1000 }, { system, log, parse })
const emptyFile = join(await temporaryFolder(), 'empty.xml')
await writeFile(emptyFile, '')
const fileWithNothing = pathToFileURL(emptyFile).href

test('a document that its publisher has not signed is refused under a check of its own (D31.1)', async () => {
  const source = parsing(() => Promise.reject(new MetadataRefused('not by us', { check: 'metadata-signature' })))
  await assert.rejects(source.current(), {
    failed: { check: 'metadata-signature', expected: fileWithNothing, received: 'not by us' },
  })
  assert.equal((await source.status()).problem, 'metadata-signature: not by us')
  const other = parsing(() => Promise.reject(new Error('no XML')))
  await assert.rejects(other.current(), {
    failed: { check: 'metadata', expected: fileWithNothing, received: 'no XML' },
  })
  assert.equal((await other.status()).problem, 'no XML')
})

test('a document that is over when it is loaded is refused with the reason (D8.6)', async () => {
  const system = new FakeSystem()
  const metadata = { ...parseMetadata(buildMetadata(), system.now()), validUntil: system.now() }
  const source = parsing(async () => metadata, system)
  await assert.rejects(source.current(), {
    failed: { check: 'metadata', expected: fileWithNothing, received: 'a copy that is no longer valid' },
  })
  assert.equal((await source.status()).problem, undefined)
})

test('an unknown key before the first load loads; a failure changes no keys (D8.6)', async () => {
  const system = new FakeSystem()
  const metadata = parseMetadata(buildMetadata(), system.now())
  assert.equal(await parsing(async () => metadata).reloadForUnknownKey({ ...metadata, keys: [] }), true)
  assert.equal(await parsing(() => Promise.reject(new Error('x'))).reloadForUnknownKey(metadata), false)
})

test('loading is reported, with the kept copy where there is one (D8.5)', async () => {
  const system = new FakeSystem()
  const { log: kept, lines } = keptLog()
  const file = join(await temporaryFolder(), 'idp.xml')
  const url = pathToFileURL(file).href
  await writeFile(file, 'one')
  let failure: Error | undefined
  const parse = async (): Promise<IdpMetadata> => {
    if (failure) throw failure
    return {
      entityId: IDP,
      redirectUrl: undefined,
      postUrl: undefined,
      keys: ['1', '2'],
      certificates: [],
      validUntil: undefined,
    }
  }
  const source = new MetadataSource({ idp: 'a', url, maxAge: 60 }, { system, log: kept, copies: undefined, parse })
  const failed = { level: 'error', idp: 'a', url, msg: 'loading metadata failed' }
  failure = new MetadataRefused('another key', { check: 'metadata-signature' })
  await assert.rejects(source.current(), {
    failed: { check: 'metadata-signature', expected: url, received: 'another key' },
  })
  const refused = { ...failed, check: 'metadata-signature', err: 'another key', keepsLastCopy: false }
  assert.deepEqual(lines.splice(0), [refused])
  assert.equal((await source.status()).problem, 'metadata-signature: another key')
  failure = undefined
  system.pass(MINUTE)
  await source.current()
  assert.deepEqual(lines.splice(0), [{ level: 'info', idp: 'a', url, entityId: IDP, keys: 2, msg: 'metadata loaded' }])
  failure = new Error('no XML')
  system.pass(MINUTE)
  await source.current()
  await eventually('the failure is reported', () => lines.length > 0)
  assert.deepEqual(lines, [{ ...failed, check: 'metadata', err: 'no XML', keepsLastCopy: true }])
  assert.equal((await source.status()).problem, 'no XML')
})

test('a stored copy that cannot be read is reported, the provider is asked, and the copy is read again (D8.6)', async t => {
  const { idp, system } = await start(t)
  const { log: kept, lines } = keptLog()
  const stored: { copy?: object } = {}
  const copies = {
    find: async () => stored.copy ?? Promise.reject(new Error('no disk')),
    store: async () => {},
  } as unknown as MetadataCopies<IdpMetadata>
  const parse = async (text: string, now: number) => parseMetadata(text, now)
  const open = () =>
    new MetadataSource({ idp: 'a', url: idp.metadataUrl, maxAge: 60 }, { system, log: kept, copies, parse })
  const metadata = await open().current()
  assert.equal(metadata.entityId, idp.entityId)
  idp.misbehave = (_, response) => response.writeHead(503).end()
  const restarted = open()
  await assert.rejects(restarted.current(), { name: 'SsoRefused' })
  stored.copy = { metadata, loadedAt: system.now() }
  assert.equal(await restarted.current(), metadata)
  assert.deepEqual(lines[0], { level: 'error', idp: 'a', err: 'no disk', msg: 'reading the stored metadata failed' })
})
