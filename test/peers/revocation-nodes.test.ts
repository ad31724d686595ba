import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { principal, STORE } from '../support/content.ts'
import { Visitor } from '../support/http-client.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { redis, startRedis } from '../support/peers/redis.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { MORE_THAN_BUFFERS } from '../support/slow-reader.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { beginTransfer, connectionEnds, cookieOf, refusalOf } from '../support/transfers.ts'
import { putFile } from '../support/uploads.ts'

test('downloads and uploads on one node end when another node ends the session or the right (D3.8)', async t => {
  if (![postgres, redis].every(peer => requirePeer(t, peer))) return
  const [folder, url, server] = [await temporaryFolder(), await postgresDatabase(), await startRedis(t)]
  const settings = {
    'service.repository.store.url': url,
    'service.cluster.redis.url': server.url,
    'service.auth.token.store': 'redis',
    'service.auth.token.key-file': join(folder, 'token.key'),
  }
  const one = await startInProcess(t, { folder, settings })
  const other = await startInProcess(t, { folder, settings })
  const [admin, elsewhere] = [await one.admin(), await other.admin()]
  const context = await newContext(admin)
  const file = await newEntry(admin, context)
  const stored = await putFile(admin, `${context}/resource/${file}`, 'x'.repeat(MORE_THAN_BUFFERS))
  assert.equal(stored.status, 201, stored.text)
  const open = async (...ids: readonly string[]): Promise<void> => {
    const terms = ids.map(id => principal(elsewhere, id))
    const info = { [`${other.base}${context}`]: { [`${STORE}read`]: terms, [`${STORE}write`]: terms } }
    assert.equal((await elsewhere.put(`_contexts/entry/${context}`, info)).status, 204)
  }
  const endings = {
    session: async (visitor: Visitor) => {
      const there = new Visitor(other.base)
      there.cookie = visitor.cookie
      assert.equal((await there.get('auth/logout')).status, 204)
    },
    right: () => open(),
  }
  for (const end of Object.values(endings)) {
    const { id, visitor } = await newUser(one, admin)
    await open(id)
    const headers = cookieOf(visitor)
    const entry = await newEntry(admin, context)
    const download = await beginTransfer('GET', `${one.base}${context}/resource/${file}`, headers)
    const upload = await beginTransfer('PUT', `${one.base}${context}/resource/${entry}`, {
      ...headers,
      'content-type': 'text/plain',
      'content-length': '1000000',
      expect: '100-continue',
    })
    await end(visitor)
    // Nothing else asks this node for anything meanwhile.
    await connectionEnds(download, 'download')
    assert.match((await refusalOf(upload)) ?? '', /^40[13]$/)
  }
})
