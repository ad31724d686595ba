import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../../src/features/verify/client.ts'
import type { Outcome } from '../../src/features/verify/outcome.ts'
import { promises } from '../../src/features/verify/promises.ts'
import { Site } from '../../src/features/verify/site.ts'
import { verify } from '../../src/features/verify/verify.ts'
import { type FrontPorts, FRONT_NAME, fronts, startFront } from '../support/peers/fronts.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { freePort, type Test } from '../support/peers/peer-process.ts'
import { ADMIN_PASSWORD, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Beside 127.0.0.1, where the front itself comes from. */
const AWAY = '127.0.0.2'

interface Settings {
  readonly [key: string]: string
}

/** A service that waits for a front at the port of its base address. */
async function startService(
  t: Test,
  settings: Settings = {},
): Promise<{ readonly base: string; readonly ports: FrontPorts }> {
  const ports = { service: await freePort(), tls: await freePort(), plain: await freePort() }
  const base = `https://${FRONT_NAME}:${ports.tls}/store/`
  await startProcess(t, {
    settings: {
      'service.http.port': String(ports.service),
      'service.http.trusted-proxies.1': '127.0.0.1/32',
      'service.baseurl.folder': base,
      'service.data.quota': 'on',
      'service.backup.schedule': '0 3 * * *',
      'service.backup.target': await temporaryFolder(),
      ...settings,
    },
  })
  return { base, ports }
}

/** What each of these promises comes to, for somebody who connects from elsewhere. */
async function outcomes(
  base: string,
  ca: string | undefined,
  ids?: readonly string[],
): Promise<ReadonlyMap<string, Outcome>> {
  const client = new Client(new URL(base), { from: AWAY, connectTo: '127.0.0.1', ca })
  assert.equal((await client.signIn('admin', ADMIN_PASSWORD)).status, 200)
  const found = new Map<string, Outcome>()
  const chosen = promises.filter(({ id }) => ids?.includes(id) ?? true)
  const left = await verify(new Site(client, {}), chosen, {
    onEach: ({ promised, outcome }) => void found.set(promised.id, outcome),
  })
  client.close()
  assert.deepEqual(left, [])
  return found
}

const brokenIn = (found: ReadonlyMap<string, Outcome>): string[] =>
  [...found].flatMap(([id, outcome]) => (outcome.state === 'broken' ? [`${id}: ${outcome.seen}`] : []))

for (const front of fronts) {
  test(`verify finds nothing to report behind ${front.file} as shipped, and leaves nothing behind`, async t => {
    if (!requirePeer(t, front.peer)) return
    const { base, ports } = await startService(t)
    const { ca } = await startFront(t, front, ports)
    const found = await outcomes(base, ca)
    assert.deepEqual(brokenIn(found), [])
    const kept = [...found.values()].filter(({ state }) => state === 'kept').length
    assert.ok(kept >= 70, `${kept} promises were kept`)
    const admin = new Client(new URL(base), { connectTo: '127.0.0.1', ca })
    await admin.signIn('admin', ADMIN_PASSWORD)
    for (const list of ['users', 'groups', 'contexts']) {
      assert.doesNotMatch((await admin.ask(`management/${list}?query=verify-`)).text, /"verify-/)
    }
    admin.close()
  })
}

interface Fault {
  readonly front: 'nginx.conf' | 'Caddyfile' | 'apache.conf' | 'haproxy.cfg'
  readonly what: string
  /** The promises of which at least one is reported. */
  readonly breaks: readonly string[]
  readonly change: (shipped: string) => string
}

/** Replaces a text of the shipped file, which must be there. */
const swap =
  (old: string, other: string) =>
  (text: string): string => {
    assert.ok(text.includes(old), old)
    return text.replaceAll(old, other)
  }
const inServer = (line: string) => swap('    proxy_http_version 1.1;', `    proxy_http_version 1.1;\n    ${line}`)
const inApache = (line: string) => swap('    ProxyRequests Off', `    ProxyRequests Off\n    ${line}`)
const inHaproxy = (line: string) =>
  swap('    http-request del-header Forwarded', `    http-request del-header Forwarded\n    ${line}`)
const FORWARDED = 'proxy_set_header X-Forwarded-For $remote_addr;'

const faults: readonly Fault[] = [
  {
    front: 'nginx.conf',
    what: 'uploads of at most 1 MB',
    breaks: ['large-files'],
    change: swap('client_max_body_size 0;', 'client_max_body_size 1m;'),
  },
  {
    front: 'nginx.conf',
    what: 'bodies of at most 1 MB',
    breaks: ['metadata-size', 'sign-on-forms'],
    change: swap('client_max_body_size 16m;', 'client_max_body_size 1m;'),
  },
  {
    front: 'nginx.conf',
    what: 'buffered uploads',
    breaks: ['resumable', 'refused-early'],
    change: swap('proxy_request_buffering off;', 'proxy_request_buffering on;'),
  },
  {
    front: 'nginx.conf',
    what: 'downloads on the disk of nginx',
    breaks: ['running-download'],
    change: swap('proxy_max_temp_file_size 0;', ''),
  },
  {
    front: 'nginx.conf',
    what: 'cached responses',
    breaks: ['personal-not-cached', 'fresh-after-change'],
    change: text =>
      `proxy_cache_path cache keys_zone=all:1m;\n${inServer('proxy_cache all; proxy_cache_key $uri; proxy_cache_valid any 1m; proxy_ignore_headers Cache-Control Set-Cookie Vary Expires;')(text)}`,
  },
  { front: 'nginx.conf', what: 'every client at one address', breaks: ['client-address'], change: swap(FORWARDED, '') },
  {
    front: 'nginx.conf',
    what: 'an address that the client invents',
    breaks: ['forged-address'],
    change: swap(FORWARDED, 'proxy_set_header X-Forwarded-For $http_x_forwarded_for;'),
  },
  {
    front: 'nginx.conf',
    what: 'weakened ETags',
    breaks: ['etag-strong'],
    change: inServer(
      'gzip on; gzip_proxied any; gzip_types *; gzip_min_length 1; proxy_set_header Accept-Encoding identity;',
    ),
  },
  {
    front: 'nginx.conf',
    what: 'decoded slashes',
    breaks: ['name-slash'],
    change: swap(
      'location /store/ {\n        proxy_pass http://stowage;',
      'location /store/ {\n        proxy_pass http://stowage/store/;',
    ),
  },
  {
    front: 'nginx.conf',
    what: 'a short time limit for bodies',
    breaks: ['slow-upload'],
    change: swap('client_body_timeout 30s;', 'client_body_timeout 4s;'),
  },
  {
    front: 'nginx.conf',
    what: 'a short time limit for responses',
    breaks: ['slow-download'],
    change: swap('send_timeout 30s;', 'send_timeout 4s;'),
  },
  {
    front: 'nginx.conf',
    what: 'few connections for each address',
    breaks: ['pictures', 'pictures-http2'],
    change: swap('limit_conn stowage_connections 200;', 'limit_conn stowage_connections 5;'),
  },
  {
    front: 'nginx.conf',
    what: 'few requests for each address',
    breaks: ['pictures', 'pictures-http2'],
    change: swap('burst=300 nodelay', 'burst=5 nodelay'),
  },
  {
    front: 'nginx.conf',
    what: 'a longer time for a header',
    breaks: ['slow-header'],
    change: swap('client_header_timeout 15s;', 'client_header_timeout 600s;'),
  },
  {
    front: 'nginx.conf',
    what: 'its own page outside the base path',
    breaks: ['root-leads-on'],
    change: swap('location / { return 302 /store/; }', 'location / { return 404; }'),
  },
  {
    front: 'nginx.conf',
    what: 'its own error pages',
    breaks: ['own-errors'],
    change: inServer('proxy_intercept_errors on; error_page 404 /40x.html;'),
  },
  {
    front: 'nginx.conf',
    what: 'no HSTS',
    breaks: ['hsts'],
    change: inServer('proxy_hide_header Strict-Transport-Security;'),
  },
  {
    front: 'nginx.conf',
    what: 'a cookie without Secure',
    breaks: ['cookie-secure'],
    change: inServer('proxy_cookie_flags ~ nosecure;'),
  },
  {
    front: 'nginx.conf',
    what: 'a cookie that scripts read',
    breaks: ['cookie-http-only'],
    change: inServer('proxy_cookie_flags ~ nohttponly;'),
  },
  {
    front: 'nginx.conf',
    what: 'a cookie for other sites',
    breaks: ['cookie-same-site'],
    change: inServer('proxy_cookie_flags ~ samesite=none;'),
  },
  {
    front: 'nginx.conf',
    what: 'a cookie for the whole host',
    breaks: ['cookie-path'],
    change: inServer('proxy_cookie_path /store/ /;'),
  },
  { front: 'nginx.conf', what: 'no ranges', breaks: ['ranges'], change: inServer('proxy_set_header Range "";') },
  {
    front: 'nginx.conf',
    what: 'no If-None-Match',
    breaks: ['not-modified'],
    change: inServer('proxy_set_header If-None-Match "";'),
  },
  {
    front: 'nginx.conf',
    what: 'no If-Match',
    breaks: ['lost-update'],
    change: inServer('proxy_set_header If-Match "";'),
  },
  {
    front: 'nginx.conf',
    what: 'only GET and POST',
    breaks: ['methods'],
    change: swap('location /store/ {', 'location /store/ {\n        limit_except GET POST { deny all; }'),
  },
  {
    front: 'nginx.conf',
    what: 'short headers',
    breaks: ['long-headers'],
    change: swap('listen 443 ssl;', 'listen 443 ssl;\n    large_client_header_buffers 2 2k;'),
  },
  {
    front: 'nginx.conf',
    what: 'old versions of TLS',
    breaks: ['old-tls'],
    change: swap(
      'ssl_protocols       TLSv1.2 TLSv1.3;',
      'ssl_protocols TLSv1 TLSv1.1 TLSv1.2; ssl_ciphers DEFAULT@SECLEVEL=0;',
    ),
  },
  {
    front: 'nginx.conf',
    what: 'files without their name',
    breaks: ['file-names'],
    change: inServer('proxy_hide_header Content-Disposition;'),
  },
  {
    front: 'nginx.conf',
    what: 'no access tokens',
    breaks: ['revoked-token'],
    change: inServer('proxy_set_header Authorization "";'),
  },
  {
    front: 'nginx.conf',
    what: 'pages of every site may read',
    breaks: ['cors'],
    change: inServer(
      'add_header Access-Control-Allow-Origin $http_origin always; add_header Access-Control-Allow-Credentials true always;',
    ),
  },
  {
    front: 'nginx.conf',
    what: 'no origin of a write',
    breaks: ['cross-site'],
    change: inServer('proxy_set_header Origin ""; proxy_set_header Sec-Fetch-Site "";'),
  },
  {
    front: 'nginx.conf',
    what: 'no content security policy',
    breaks: ['security-headers'],
    change: inServer('proxy_hide_header Content-Security-Policy;'),
  },
  {
    front: 'nginx.conf',
    what: 'responses that caches may keep',
    breaks: ['cache-headers'],
    change: inServer('proxy_hide_header Cache-Control; add_header Cache-Control "public, max-age=60" always;'),
  },
  {
    front: 'nginx.conf',
    what: 'no Retry-After',
    breaks: ['retry-after'],
    change: inServer('proxy_hide_header Retry-After;'),
  },
  {
    front: 'nginx.conf',
    what: 'no limits of requests',
    breaks: ['flood'],
    change: text => text.replaceAll(/^\s*limit_(?:conn|req) .*$/gm, ''),
  },
  {
    front: 'apache.conf',
    what: 'no escaped slashes',
    breaks: ['name-slash'],
    change: swap('AllowEncodedSlashes NoDecode', 'AllowEncodedSlashes Off'),
  },
  {
    front: 'apache.conf',
    what: 'no ETag',
    breaks: ['etag-strong', 'not-modified'],
    change: inApache('Header unset ETag'),
  },
  {
    front: 'apache.conf',
    what: 'short headers',
    breaks: ['long-headers'],
    change: inApache('LimitRequestFieldSize 1000'),
  },
  {
    front: 'apache.conf',
    what: 'a long time for a header',
    breaks: ['slow-header'],
    change: text => inApache('Timeout 600')(swap('header=15,MinRate=500', 'header=600')(text)),
  },
  {
    front: 'Caddyfile',
    what: 'bodies of at most 1 MB',
    breaks: ['metadata-size', 'sign-on-forms'],
    change: swap('max_size 16MB', 'max_size 1MB'),
  },
  {
    front: 'Caddyfile',
    what: 'one address for all clients',
    breaks: ['client-address'],
    change: swap('header_up X-Forwarded-For {remote_host}', 'header_up X-Forwarded-For 10.9.9.9'),
  },
  {
    front: 'Caddyfile',
    what: 'an empty page outside the base path',
    breaks: ['root-leads-on'],
    change: swap('redir * /store/', 'respond 200'),
  },
  {
    front: 'Caddyfile',
    what: 'a cookie without Secure',
    breaks: ['cookie-secure'],
    change: swap('header_up -Forwarded', 'header_up -Forwarded\n\t\t\t\theader_down Set-Cookie "; Secure" "; Verify"'),
  },
  {
    front: 'haproxy.cfg',
    what: 'every client at one address',
    breaks: ['client-address'],
    change: swap('http-request set-header X-Forwarded-For %[src]', 'http-request del-header X-Forwarded-For'),
  },
  {
    front: 'haproxy.cfg',
    what: 'an address that the client invents',
    breaks: ['forged-address'],
    change: swap('    http-request set-header X-Forwarded-For %[src]\n', ''),
  },
  {
    front: 'haproxy.cfg',
    what: 'bodies of at most 1 MB',
    breaks: ['metadata-size', 'sign-on-forms', 'large-files'],
    change: inHaproxy('http-request deny deny_status 413 if { req.hdr_val(content-length) gt 1000000 }'),
  },
  {
    front: 'haproxy.cfg',
    what: 'decoded slashes',
    breaks: ['name-slash'],
    change: inHaproxy('http-request set-path %[path,url_dec]'),
  },
  {
    front: 'haproxy.cfg',
    what: 'a short time limit',
    breaks: ['slow-upload', 'slow-download'],
    change: swap('timeout client 30s', 'timeout client 3s'),
  },
  {
    front: 'haproxy.cfg',
    what: 'few requests for each address',
    breaks: ['pictures', 'pictures-http2'],
    change: swap('sc0_http_req_rate gt 600', 'sc0_http_req_rate gt 20'),
  },
  {
    front: 'haproxy.cfg',
    what: 'no limits of requests',
    breaks: ['flood'],
    change: text => text.replaceAll(/^.*sc0_.*$/gm, ''),
  },
  {
    front: 'haproxy.cfg',
    what: 'a cookie without Secure',
    breaks: ['cookie-secure'],
    change: inHaproxy('http-response replace-header Set-Cookie (.*);\\ Secure(.*) \\1\\2'),
  },
  {
    front: 'haproxy.cfg',
    what: 'compressed files',
    breaks: ['etag-strong', 'ranges'],
    change: swap(
      'backend stowage\n',
      'backend stowage\n    compression algo gzip\n    compression type text/plain application/json\n',
    ),
  },
  {
    front: 'haproxy.cfg',
    what: 'its own page outside the base path',
    breaks: ['root-leads-on'],
    change: swap('http-request redirect location /store/ code 302', 'http-request deny deny_status 404'),
  },
  {
    front: 'haproxy.cfg',
    what: 'old versions of TLS',
    breaks: ['old-tls'],
    change: swap('ssl-min-ver TLSv1.2', 'ssl-min-ver TLSv1.0 ciphers DEFAULT@SECLEVEL=0'),
  },
]

for (const front of fronts) {
  const planted = faults.filter(fault => fault.front === front.file)
  test(`verify names each of ${planted.length} faults planted into ${front.file}`, async t => {
    if (!requirePeer(t, front.peer)) return
    const { base, ports } = await startService(t)
    for (const { what, breaks, change } of planted) {
      await t.test(what, async t => {
        const { ca } = await startFront(t, front, ports, change)
        const found = await outcomes(base, ca, breaks)
        assert.ok(brokenIn(found).length > 0, JSON.stringify([...found]))
      })
    }
  })
}

const wrongSettings: ReadonlyArray<{
  readonly what: string
  readonly breaks: readonly string[]
  readonly settings: Settings
}> = [
  {
    what: 'another base address',
    breaks: ['base-address', 'base-in-responses'],
    settings: { 'service.baseurl.folder': 'https://elsewhere.example/store/' },
  },
  {
    what: 'a proxy that is not trusted',
    breaks: ['client-address'],
    settings: { 'service.http.trusted-proxies.1': '192.0.2.1/32' },
  },
  {
    what: 'a cookie for other sites',
    breaks: ['cookie-same-site'],
    settings: { 'service.auth.cookie.samesite': 'none' },
  },
]

test('verify names wrong settings of the service', async t => {
  const [front] = fronts
  if (!front || !requirePeer(t, front.peer)) return
  for (const { what, breaks, settings } of wrongSettings) {
    await t.test(what, async t => {
      const { base, ports } = await startService(t, settings)
      const { ca } = await startFront(t, front, ports)
      const found = await outcomes(base, ca, breaks)
      assert.equal(brokenIn(found).length, breaks.length, JSON.stringify([...found]))
    })
  }
})

test('verify names nodes that do not belong together', async t => {
  const folder = await temporaryFolder()
  const [one, two] = [
    await startProcess(t, { settings: { 'service.http.port': String(await freePort()) } }),
    await startProcess(t, {
      settings: {
        'service.http.port': String(await freePort()),
        'service.data.folder': folder,
        'service.trash.days': '7',
      },
    }),
  ]
  const client = new Client(new URL(one.base), {})
  assert.equal((await client.signIn('admin', ADMIN_PASSWORD)).status, 200)
  const site = new Site(client, { nodes: [new URL(one.base), new URL(two.base)] })
  const found = new Map<string, Outcome>()
  await verify(
    site,
    promises.filter(({ id }) => ['same-settings', 'same-data', 'same-version', 'same-clock'].includes(id)),
    { onEach: ({ promised, outcome }) => void found.set(promised.id, outcome) },
  )
  client.close()
  // The session of the first is unknown to the second.
  assert.notEqual(found.get('same-settings')?.state, 'kept')
  assert.equal(found.get('same-data')?.state, 'broken')
  assert.equal(found.get('same-clock')?.state, 'kept')
})
