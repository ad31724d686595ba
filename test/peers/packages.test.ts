import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { Visitor } from '../support/http-client.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { debian, inDebian, obstacle, runAsMachine } from '../support/peers/debian.ts'
import { architecture, builtClone, fileIn, output, startPackage } from '../support/peers/packages.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { buildImage, podman, runContainer, startContainer } from '../support/peers/podman.ts'
import { ADMIN_PASSWORD, newContext, newEntry, repository } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

/** No Node.js and no package of the repository is found from here. */
const PLAIN_PATH = '/usr/bin:/bin'

const clone = await builtClone([])
const release = join(clone, 'build/release')

async function unpacked(archive: string): Promise<string> {
  const folder = await temporaryFolder()
  await output('tar', ['-xzf', archive, '-C', folder])
  return folder
}

/** Settings as variables, one of them by the key itself: its last part may be any name. */
const dotted = [
  'SERVICE_AUTH_OIDC=on',
  'SERVICE_AUTH_OIDC_IDPS_1=campus',
  'SERVICE_AUTH_OIDC_IDP_CAMPUS_ISSUER=https://idp.example/',
  'SERVICE_AUTH_OIDC_IDP_CAMPUS_CLIENT_ID=stowage',
  'service.auth.oidc.idp.campus.required.affiliation=staff',
]
const shown = /^service\.auth\.oidc\.idp\.campus\.required\.affiliation=staff {3}# environment$/m

/** Uses what the program loads on demand: password hashes, readers of RDF, threads, patterns. */
async function useIt(admin: Visitor): Promise<void> {
  const context = await newContext(admin)
  const title = 'http://purl.org/dc/terms/title'
  const bodies: Readonly<Record<string, (about: string) => string>> = {
    'text/turtle': about => `<${about}> <${title}> "Ducks" .`,
    'application/ld+json': about => JSON.stringify({ '@id': about, [title]: 'Ducks' }),
    'application/rdf+xml': about =>
      '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/terms/">' +
      `<r:Description r:about="${about}"><d:title>Ducks</d:title></r:Description></r:RDF>`,
    'application/trix': about =>
      '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><triple>' +
      `<uri>${about}</uri><uri>${title}</uri><plainLiteral>Ducks</plainLiteral></triple></graph></TriX>`,
  }
  for (const [type, body] of Object.entries(bodies)) {
    const entry = await newEntry(admin, context)
    const path = `${context}/metadata/${entry}`
    const about = `${admin.base}${context}/resource/${entry}`
    const { status, text } = await admin.ask(path, {
      method: 'PUT',
      headers: { 'content-type': type },
      body: body(about),
    })
    assert.equal(status, 204, `${type}: ${text}`)
    assert.match((await admin.get(path)).text, /Ducks/)
  }
  const found = await admin.get('search?type=solr&query=title:ducks&facetFields=tag.literal&facetMatches=D.*')
  assert.equal(found.status, 200, found.text)
  const { children } = found.json<{ resource: { children: unknown[] } }>().resource
  assert.equal(children.length, Object.keys(bodies).length)
}

test('the npm package contains the bundle and exact versions, no source maps and no dead links', async () => {
  const folder = join(await unpacked(await fileIn(release, '.tgz')), 'package')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  assert.deepEqual(
    files.filter(file => /\.map$|^(?:src|test|scripts|node_modules)(?:\/|$)/.test(file)),
    [],
  )
  assert.ok(files.includes('npm-shrinkwrap.json') && files.includes('SECURITY.md') && files.includes('CONTRIBUTING.md'))
  const dead = files
    .filter(file => file.endsWith('.md'))
    .flatMap(page =>
      [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)]
        .map(([, link = '']) => link)
        .filter(link => !/^[a-z]+:/.test(link) && !existsSync(join(folder, posix.join(dirname(page), link))))
        .map(link => `${page}: ${link}`),
    )
  assert.deepEqual(dead, [])

  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  const manifest = read(join(folder, 'package.json'))
  const { packages } = read(join(folder, 'npm-shrinkwrap.json')) as { packages: Record<string, { version: string }> }
  const { packages: tested } = read(join(clone, 'package-lock.json')) as { packages: typeof packages }
  assert.ok(!('private' in manifest) && !('scripts' in manifest))
  for (const [path, { version }] of Object.entries(packages).filter(([path]) => path !== ''))
    assert.equal(version, tested[path]?.version, path)
})

test('npx runs the npm package in an empty folder without a warning', async t => {
  const archive = await fileIn(release, '.tgz')
  const collector = await startOtlpReceiver(t)
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${PLAIN_PATH}`,
    npm_config_cache: await temporaryFolder(),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  }
  const npx = [
    '--yes',
    `--package=${archive}`,
    'stowage',
    'serve',
    '--set',
    'service.log.level=warn',
    '--set',
    'service.log.slow=0',
  ]
  const started = await startPackage(t, { command: 'npx', args: npx, env })
  const { admin, errors } = started
  await useIt(admin)
  await started.stop()
  // Of the service there is the audit log only.
  const warnings = errors()
    .split('\n')
    .filter(line => line !== '' && !/^\{"level":"info",.*"audit":true/.test(line))
  assert.deepEqual(warnings, [])
  assert.ok(collector.spans.length > 0 && collector.metrics.length > 0, 'no telemetry has arrived')
})

test('the archive runs without any other Node.js, through a link, and knows its version and commit', async t => {
  const folder = await unpacked(await fileIn(release, `${architecture}.tar.gz`))
  const link = join(folder, 'stowage-link')
  symlinkSync('stowage/stowage', link)
  const collector = await startOtlpReceiver(t)
  const env = { PATH: PLAIN_PATH, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  const node = join(folder, 'stowage/bin/node')
  const started = await startPackage(t, { command: node, args: [link, 'serve'], env })
  const { admin } = started
  await useIt(admin)
  const { commit } = (await admin.get('management/status?extended')).json<{ commit?: string }>()
  assert.equal(await started.stop(), 0)
  assert.ok(collector.spans.length > 0 && collector.metrics.length > 0, 'no telemetry has arrived')
  const { version, gitHead } = JSON.parse(readFileSync(join(folder, 'stowage/package.json'), 'utf8')) as Record<
    string,
    string
  >
  assert.match(gitHead ?? '', /^[0-9a-f]{40}(?:-dirty)?$/)
  assert.equal(commit, gitHead)
  assert.equal(await output(node, [link, 'version']), `${version} (${gitHead})\n`)
  const bill = readFileSync(join(folder, 'stowage/sbom.cdx.json'), 'utf8')
  assert.match(bill, /"pkg:generic\/node@24/)
  assert.ok(!bill.includes('"distribution"'))
})

test('a variable with dots in its name reaches the program of the archive in /opt, which no shell starts (D10.1)', async t => {
  if (!(await mayIsolate(t))) return
  const folder = join(await unpacked(await fileIn(release, `${architecture}.tar.gz`)), 'stowage')
  const command = ['/usr/bin/env', ...dotted, '/opt/stowage/stowage', 'config', 'show']
  assert.match(await inDebian([`--bind-ro=${folder}:/opt/stowage`], command), shown)
})

test('under a real systemd the Debian package installs, starts, signs in, upgrades and is purged', async t => {
  if (!(await mayIsolate(t))) return
  const first = await fileIn(release, `${architecture}.deb`)
  const facts = await runAsMachine('in-debian.sh', { 'first.deb': first, 'second.deb': await laterVersion(first) })
  assert.deepEqual(
    { ...facts, exposure: undefined, output: undefined },
    {
      installed: '0 enabled inactive',
      refused: '1 failed 78',
      started: '0 0',
      'sign-in': '200',
      user: 'stowage',
      // The filter of system calls is on.
      filter: '2',
      exposure: undefined,
      rights: 'root:stowage 640 stowage:stowage 700',
      manual: '1',
      completion: 'health help --repair',
      dotted: '1',
      'settings-of-service': '1',
      variables: '1',
      filled: '201',
      verified: '12 promises kept, 0 broken, 0 not checked.',
      'backed-up': '0 stowage',
      restored: '0 same',
      'restored-lost': '0 same',
      'restored-into-mount': '0 same',
      'without-backups': '0 same',
      'with-backups': '0 rw',
      upgraded: `${LATER} active restarted`,
      'sign-in-again': '200',
      'file-upgraded': 'same',
      settings: '1',
      stopped: 'success 0',
      removed: '0 0 1',
      back: '0 enabled',
      // The keys are those of the operator.
      purged: '0 token.key 0 data',
      output: undefined,
    },
    facts['output'],
  )
  assert.ok(Number(facts['exposure']) <= 2, `the exposure must be at most 2.0, but is ${facts['exposure']}`)
})

test('under a real systemd the commands of the page install the archive as a service', async t => {
  if (!(await mayIsolate(t))) return
  const page = join(repository, 'docs/how-to/install.md')
  const archive = await fileIn(release, `${architecture}.tar.gz`)
  const facts = await runAsMachine('archive-in-debian.sh', { 'archive.tar.gz': archive, 'install.md': page })
  assert.deepEqual(
    { ...facts, output: undefined },
    {
      commands: '9',
      installed: '0 enabled root:stowage 640',
      checked: '0',
      started: '0 stowage',
      'sign-in': '200',
      output: undefined,
    },
    facts['output'],
  )
})

// Given by the rehearsal of a release.
const older = process.env['OLDER_PACKAGE']
if (older !== undefined)
  test('a store that an older package has filled is complete after the upgrade, and after a restore', async t => {
    if (!(await mayIsolate(t))) return
    const facts = await runAsMachine('upgrade-in-debian.sh', {
      'first.deb': older,
      'second.deb': await fileIn(release, `${architecture}.deb`),
    })
    assert.deepEqual(
      { ...facts, output: undefined },
      {
        older: '200',
        filled: 'Ducks',
        upgraded: '0 active 200 Ducks',
        fsck: '0',
        verified: '6 promises kept, 0 broken, 0 not checked.',
        'backed-up': '0',
        restored: '0',
        'restored-store': '200 Ducks',
        purged: '0',
        output: undefined,
      },
      facts['output'],
    )
  })

/** Of a package that comes after all others. */
const LATER = '999.0'

/** The same package with another version. */
async function laterVersion(deb: string): Promise<string> {
  const folder = await temporaryFolder()
  const tree = join(folder, 'tree')
  await output('dpkg-deb', ['--raw-extract', deb, tree])
  const control = join(tree, 'DEBIAN/control')
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${LATER}`))
  await output('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, join(folder, 'later.deb')])
  return join(folder, 'later.deb')
}

test('the image runs by itself as an unprivileged user on a read-only root, and is healthy', async t => {
  if (!(await mayIsolate(t))) return
  const container = await startContainer(t, await buildImage(t, clone), [
    '--network=none',
    `--env=SERVICE_ADMIN_PASSWORD=${ADMIN_PASSWORD}`,
    ...dotted.map(variable => `--env=${variable}`),
  ])
  await eventually('it serves', async () => (await container.log()).includes('Stowage'))
  await container.healthCheck()
  const form = ['--data-urlencode', 'auth_username=admin', '--data-urlencode', `auth_password=${ADMIN_PASSWORD}`]
  const curl = ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', 'http://127.0.0.1:8080/auth/cookie', ...form]
  assert.equal(await container.run(...curl), '200')
  assert.equal(await container.run('id', '-u'), '10001')
  assert.match(
    await container.run('cat', '/proc/1/environ'),
    /(?:^|\0)service\.auth\.oidc\.idp\.campus\.required\.affiliation=staff\0/,
  )
  assert.match(await container.run('/opt/stowage/stowage', 'config', 'show'), shown)
  const privileges = await container.run('grep', '-E', '^(CapEff|NoNewPrivs):', '/proc/1/status')
  assert.match(privileges, /^CapEff:\s+0+\nNoNewPrivs:\s+1$/)
  await assert.rejects(container.run('touch', '/opt/stowage/file'), /Read-only file system/)
})

test('the health check of the image follows mounted settings, and a stop waits for an upload', async t => {
  if (!(await mayIsolate(t))) return
  const port = await freePort()
  const settings = join(await temporaryFolder(), 'service.properties')
  writeFileSync(settings, `service.http.port = ${port}\n`)
  const container = await startContainer(t, await buildImage(t, clone), [
    '--network=host',
    `--volume=${settings}:/etc/stowage/service.properties:ro`,
    '--env=SERVICE_HTTP_HOST=127.0.0.1',
    `--env=SERVICE_ADMIN_PASSWORD=${ADMIN_PASSWORD}`,
  ])
  await eventually('it serves', async () => (await container.log()).includes(`127.0.0.1:${port}`))
  await container.healthCheck()
  const admin = new Visitor(`http://127.0.0.1:${port}/`)
  await admin.signIn('admin', ADMIN_PASSWORD)
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const body = new PassThrough()
  body.write('the first half, ')
  const upload = admin.ask(`${context}/resource/${entry}`, { method: 'PUT', body })
  await eventually('it takes the body', async () => (await container.run('ls', '/data/files/incoming')) !== '')
  const stopped = container.stop()
  await eventually('it is stopping', async () => (await container.log()).includes('"msg":"stopping"'))
  body.end('the second half')
  assert.equal((await upload).status, 201)
  assert.equal(await stopped, 0)
})

test('in a container the store is filled, keeps its promises, and comes back from a backup in another volume', async t => {
  if (!(await mayIsolate(t))) return
  const image = await buildImage(t, clone)
  const [data, backups, restored] = ['data', 'backup', 'restored'].map(name => `${name}-${randomUUID()}`)
  t.after(async () => void (await podman('volume', 'rm', '--force', `${data}`, `${backups}`, `${restored}`)))
  const start = async (volume: string | undefined) => {
    const container = await startContainer(t, image, [
      '--network=none',
      `--volume=${volume}:/data`,
      `--volume=${backups}:/backup`,
      `--env=SERVICE_ADMIN_PASSWORD=${ADMIN_PASSWORD}`,
      '--env=SERVICE_DATA_QUOTA=on',
    ])
    await eventually('it serves', async () => (await container.log()).includes('Stowage'))
    return container
  }
  const curl = (more: string) => `curl -s -w '%{http_code}' -b /tmp/jar -c /tmp/jar -o /tmp/got ${more}`
  const signIn = curl(`$S/auth/cookie -d auth_username=admin --data-urlencode auth_password=${ADMIN_PASSWORD}`)
  const shell = (...lines: string[]) => ['sh', '-c', ['S=http://127.0.0.1:8080', ...lines].join('\n')]
  const older = await start(data)
  const filled = await older.run(
    ...shell(
      signIn,
      curl(`"$S/_contexts?graphtype=context&id=photos" --json '{"resource": {"name": "Photos"}}'`),
      curl('-X POST "$S/photos?id=one"'),
      curl('-T /etc/debian_version $S/photos/resource/one'),
    ),
  )
  assert.equal(filled, '200201201201')
  const promises = 'responds,ready,files-exact,resumable,quota-exact'
  const verify = `echo ${ADMIN_PASSWORD} | /opt/stowage/stowage verify $S/ --user admin --only ${promises} | tail -1`
  assert.equal(await older.run(...shell(verify)), '5 promises kept, 0 broken, 0 not checked.')
  await older.run('/opt/stowage/stowage', 'backup', '/backup')
  await older.stop()
  const volumes = [`--volume=${restored}:/data`, `--volume=${backups}:/backup`]
  await runContainer(image, ['--network=none', ...volumes], ['restore', '/backup'])
  const newer = await start(restored)
  const same = 'cmp /tmp/got /etc/debian_version && echo " same"'
  assert.equal(await newer.run(...shell(signIn, curl('$S/photos/resource/one'), same)), '200200 same')
})

/** Whether this machine has what it takes to boot Debian and to run containers. A sandbox may forbid it. */
async function mayIsolate(t: { skip(message: string): void }): Promise<boolean> {
  if (!requirePeer(t, debian)) return false
  const reason = await obstacle()
  if (reason !== undefined) t.skip(reason)
  return reason === undefined
}
