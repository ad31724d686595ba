import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Run, stowage } from '../support/cli.ts'
import { startWithOidc } from '../support/oidc-at-provider.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Runs the doctor on a configuration with one provider at this issuer. */
async function examine(issuer: string, more: Readonly<Record<string, string>> = {}): Promise<Run> {
  const folder = await temporaryFolder()
  const config = join(folder, 'service.properties')
  const settings = {
    'service.baseurl.folder': 'https://store.example/store/',
    'service.auth.oidc': 'on',
    'service.auth.oidc.idps.1': 'op',
    'service.auth.oidc.idp.op.issuer': issuer,
    'service.auth.oidc.idp.op.client-id': 'stowage',
    ...more,
  }
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`)
  await writeFile(config, lines.join(''))
  return stowage(folder, ['doctor', '--config', config])
}

test('the doctor loads the configuration of a provider and prints what it decides about', async t => {
  const { issuer } = await startWithOidc(t)
  const { stdout } = await examine(issuer, {
    'service.auth.oidc.idp.op.groups-claim': 'groups',
    'service.auth.oidc.idp.op.groups-prefix': 'SSO-',
    'service.auth.oidc.idp.op.admin-group': 'store-admins',
    'service.auth.oidc.idp.op.map.language': 'locale',
    'service.auth.oidc.idp.op.required.hd': 'example.org',
  })
  const lines = stdout.split('\n')
  for (const line of [
    'OpenID Connect op: redirect URI https://store.example/store/auth/oidc/callback',
    'OpenID Connect op: groups "sso-…" come from groups; only existing ones count',
    'OpenID Connect op: groups=store-admins makes administrators',
    'OpenID Connect op: the profile is set from attributes: language=locale',
    'OpenID Connect op: required values of hd',
  ]) {
    assert.ok(lines.includes(line), `${line} is missing in:\n${stdout}`)
  }
  assert.ok(
    lines.some(line => line.startsWith(`OpenID Connect op: ${issuer}, 1 key, `)),
    stdout,
  )
})

test('the doctor prints where a sign-out goes on to', async t => {
  const { issuer } = await startWithOidc(t)
  const on = { 'service.auth.oidc.idp.op.single-logout': 'on' }
  const { stdout } = await examine(issuer, on)
  assert.ok(stdout.includes(`\nOpenID Connect op: a sign-out here goes on to ${issuer}/session/end\n`), stdout)
})

test('the doctor finds a provider that cannot be reached; a secret that cannot be read is a mistake in the settings', async () => {
  const gone = await examine(`http://127.0.0.1:${await freePort()}`)
  assert.equal(gone.status, 1)
  assert.match(gone.stdout, /^problem: OpenID Connect op: the configuration cannot be used: /m)
  const file = '/nowhere/secret'
  const secret = await examine('https://op.example', { 'service.auth.oidc.idp.op.client-secret-file': file })
  assert.equal(secret.status, 1)
  assert.match(secret.stderr, /client-secret-file names \/nowhere\/secret, but that file cannot be read/)
})
