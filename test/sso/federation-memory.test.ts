import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { FederationReader } from '../../src/features/saml/federation-reader.ts'
import { largeAggregate } from '../support/federation.ts'
import { keyNamed, NOW } from '../support/saml-idp.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MEGABYTE = 1_000_000
const ALL = { entities: 5000, bytes: 40 * MEGABYTE }

test('an aggregate of 40 MB with 5,000 providers is read within 150 MB (D31.1)', async t => {
  const file = join(await temporaryFolder(), 'aggregate.xml')
  await pipeline(Readable.from(largeAggregate(ALL)), createWriteStream(file))
  const reader = new FederationReader()
  t.after(() => reader.close())
  const task = { url: pathToFileURL(file).href, keys: [keyNamed('other').pem], now: NOW, timeout: 300_000 }
  const outcome = await reader.read({ ...task, maxBytes: 50 * MEGABYTE })
  assert.ok('packs' in outcome, 'refused' in outcome ? outcome.refused : '')
  const { bytes, unusable } = outcome.summary
  assert.ok(bytes > 39 * MEGABYTE, `${bytes} bytes`)
  assert.equal(unusable, 0)
  // V8 ends the thread at its limit, which does not include the bytes that the thread hands over.
  const handedOver = outcome.packs.reduce((sum, pack) => sum + pack.length, 0)
  assert.ok(FederationReader.megabytes * 1_048_576 + handedOver < 150 * MEGABYTE, `${handedOver} bytes are handed over`)
  const rows = outcome.packs.flatMap(pack => JSON.parse(Buffer.from(pack).toString('utf8')) as unknown[][])
  assert.equal(new Set(rows.map(([id]) => id)).size, ALL.entities)
  const cut = await reader.read({ ...task, maxBytes: 3 * MEGABYTE })
  assert.match('refused' in cut ? cut.refused : '', /more than 3000000 bytes/)
})
