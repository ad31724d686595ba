import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stowage } from '../support/cli.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { administer, ownPostgres, postgres, requireTls, urlOf } from '../support/peers/postgres.ts'
import { redis, startRedis } from '../support/peers/redis.ts'
import { selfSigned } from '../support/self-signed.ts'
import { startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A certificate and its key in files. */
async function pairIn(folder: string, name: string) {
  const pair = selfSigned()
  const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)]
  await writeFile(certFile, pair.cert)
  await writeFile(keyFile, pair.key, { mode: 0o600 })
  return { ...pair, certFile, keyFile }
}

test('PostgreSQL and Redis that demand a certificate get one: both ends of each connection are verified', async t => {
  if (!requirePeer(t, postgres) || !requirePeer(t, redis)) return
  const folder = await temporaryFolder()
  const [server, client, stranger] = [
    await pairIn(folder, 'server'),
    await pairIn(folder, 'client'),
    await pairIn(folder, 'stranger'),
  ]
  const rows = await ownPostgres(t)
  await administer(rows, 'CREATE DATABASE stowage')
  await requireTls(rows, server, [client.cert])
  const port = await freePort()
  const tls = ['--tls-port', String(port), '--tls-cert-file', server.certFile, '--tls-key-file', server.keyFile]
  await startRedis(t, { args: [...tls, '--tls-ca-cert-file', client.certFile, '--tls-auth-clients', 'yes'] })

  const rowsAs = (pair?: { readonly certFile: string; readonly keyFile: string }): string => {
    const query = new URLSearchParams({
      sslmode: 'verify-full',
      sslrootcert: server.certFile,
      ...(pair ? { sslcert: pair.certFile, sslkey: pair.keyFile } : {}),
    })
    return `${urlOf(rows, 'stowage')}?${query.toString()}`
  }
  const redisAs = (pair?: { readonly certFile: string; readonly keyFile: string }): Record<string, string> => ({
    'service.cluster.redis.url': `rediss://127.0.0.1:${port}/`,
    ...(pair
      ? { 'service.cluster.redis.certificate-file': pair.certFile, 'service.cluster.redis.key-file': pair.keyFile }
      : {}),
  })
  const settings = (url: string, ofRedis: Readonly<Record<string, string>>): Record<string, string> => ({
    'service.repository.store.url': url,
    'service.auth.token.store': 'redis',
    'service.auth.token.key-file': join(folder, 'token.key'),
    ...ofRedis,
  })
  const env = { NODE_EXTRA_CA_CERTS: server.certFile }
  const service = await startProcess(t, { settings: settings(rowsAs(client), redisAs(client)), env })
  assert.equal((await (await service.admin()).get('auth/user')).json()['user'], 'admin')

  /** What the doctor says with these settings. */
  const doctor = async (url: string, ofRedis: Readonly<Record<string, string>>): Promise<string> => {
    const all = { 'service.data.folder': service.folder, ...settings(url, ofRedis) }
    const sets = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    return (await stowage(folder, ['doctor', ...sets], env)).stdout
  }
  assert.doesNotMatch(await doctor(rowsAs(client), redisAs(client)), /^problem/m)
  for (const refused of [undefined, stranger]) {
    assert.match(await doctor(rowsAs(refused), redisAs(client)), /^problem: store: The database 127\.0\.0\.1/m)
    assert.match(await doctor(rowsAs(client), redisAs(refused)), /^problem: .*Redis at 127\.0\.0\.1/m)
  }
  await writeFile(join(folder, 'open.key'), client.key, { mode: 0o644 })
  const exposed = redisAs({ certFile: client.certFile, keyFile: join(folder, 'open.key') })
  assert.match(await doctor(rowsAs(client), exposed), /^problem: .*open\.key contains keys, and other users/m)
})
