import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stowage } from '../support/cli.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const OLD = `
entrystore.baseurl.folder=https://data.example.org/store/
entrystore.repository.store.type=native
entrystore.repository.store.path=file:///srv/store
entrystore.repository.store.url=http://sparql.example.org/
entrystore.repository.provenance=on
entrystore.repository.provenance.type=native
entrystore.data.folder=file:///srv/data/
entrystore.data.quota=on
entrystore.data.quota.default=500MB
entrystore.auth.adminpw=top-Secret-Password-1
entrystore.auth.http-basic.enabled=on
entrystore.auth.password.rule.min-length=10
entrystore.auth.password.whitelist.1=admin
entrystore.auth.cookie.max-age=604800
entrystore.auth.recaptcha.private-key=recaptcha-Secret
entrystore.cors=on
entrystore.cors.origins=https://a.example.org, https://b.example.org
entrystore.smtp.email.from=store@example.org
entrystore.solr=on
entrystore.solr.auth.password=solr-Secret
entrystore.backup.folder=/srv/backup
entrystore.backup.cronexp=0 0 3 * * ?
entrystore.syndication.url-template.portal=https://portal.example.org/?e={entryid}
entrystore.traversal.dct.1=http://purl.org/dc/terms/creator
entrystore.traversal.dct.2=http://purl.org/dc/terms/subject
entrystore.traversal.dct.max-depth=2
entrystore.traversal.dct.limit=4
entrystore.traversal.dct.repository-scope=off
entrystore.traversal.dct.blacklist.1=rdf:type,dcat:Dataset
entrystore.temp.unheard.of=1
other.library=1
`

test('every key is translated, or named with the reason, and config check accepts the result (D21.10)', async () => {
  const folder = await temporaryFolder()
  const [old, made] = [join(folder, 'entrystore.properties'), join(folder, 'service.properties')]
  writeFileSync(old, OLD)
  const run = await stowage(folder, ['import', 'entrystore-config', old, '--output', made])
  assert.equal(run.status, 1, run.stderr)
  const text = readFileSync(made, 'utf8')
  assert.equal(statSync(made).mode & 0o777, 0o600)
  for (const line of [
    'service.baseurl.folder=https\\://data.example.org/store/',
    'service.repository.provenance=on',
    'service.data.quota=on',
    'service.data.quota.default=500M',
    'service.auth.http-basic=on',
    'service.auth.adminpw=top-Secret-Password-1',
    'service.auth.password.whitelist.1=admin',
    'service.cors.origins.1=https\\://a.example.org',
    'service.cors.origins.2=https\\://b.example.org',
    'service.smtp.from=store@example.org',
    'service.syndication.url-template.portal=https\\://portal.example.org/?e\\={entryid}',
    'service.traversal.predicates.dct.1=http\\://purl.org/dc/terms/creator',
    'service.traversal.predicates.dct.2=http\\://purl.org/dc/terms/subject',
    'service.traversal.max-depth.dct=2',
    'service.traversal.limit.dct=4',
    'service.traversal.scope.dct=context',
    'service.traversal.stop.dct.1=rdf\\:type,dcat\\:Dataset',
  ])
    assert.ok(text.includes(line), `${line} in\n${text}`)
  assert.doesNotMatch(text, /^service\.(repository\.store|data\.folder|backup|solr)/m)
  const keys = OLD.trim()
    .split('\n')
    .map(line => line.slice(0, line.indexOf('=')))
  for (const key of keys) assert.ok(run.stderr.includes(key), `${key} is not in the report`)
  assert.match(run.stderr, /changed: entrystore\.cors\.origins/)
  assert.match(run.stderr, /changed: entrystore\.data\.quota\.default → service\.data\.quota\.default\. .*1024/)
  assert.match(run.stderr, /dropped: entrystore\.data\.folder.*something else/)
  assert.match(run.stderr, /dropped: entrystore\.backup\.cronexp\. Set service\.backup\.schedule/)
  assert.doesNotMatch(run.stderr + run.stdout, /Secret/)
  assert.doesNotMatch(text, /recaptcha-Secret|solr-Secret/)
  const check = await stowage(folder, ['config', 'check', '--strict', '--config', made])
  assert.equal(check.status, 0, check.stderr)
  assert.equal((await stowage(folder, ['import', 'entrystore-config', old, '--output', made])).status, 1)
  assert.match((await stowage(folder, ['import', 'entrystore-config', old])).stdout, /top-Secret-Password-1/)
})

test('secrets are not printed to a terminal, and go to a pipe or a file (D21.10)', async () => {
  const folder = await temporaryFolder()
  const old = join(folder, 'entrystore.properties')
  writeFileSync(old, OLD)
  const onTerminal = { NODE_OPTIONS: '--import=data:text/javascript,process.stdout.isTTY%3Dtrue' }
  const run = await stowage(folder, ['import', 'entrystore-config', old], onTerminal)
  assert.equal(run.status, 1, run.stderr)
  assert.match(run.stdout, /^service\.auth\.adminpw=\*+$/m)
  assert.match(run.stdout, /^service\.auth\.password\.whitelist\.1=admin$/m)
  assert.doesNotMatch(run.stdout + run.stderr, /Secret-|-Secret/)
  assert.match(run.stderr, /--output FILE/)
})

test('settings that contradict others are left out, with the contradiction as the reason', async () => {
  const folder = await temporaryFolder()
  const old = join(folder, 'entrystore.properties')
  writeFileSync(old, 'entrystore.auth.password-reset=on\nentrystore.auth.temp.lockout.max.attempts=0\n')
  const run = await stowage(folder, ['import', 'entrystore-config', old, '--output', join(folder, 'new.properties')])
  assert.equal(run.status, 1, run.stderr)
  assert.match(run.stderr, /dropped: entrystore\.auth\.password-reset/)
  assert.equal((await stowage(folder, ['config', 'check', '--config', join(folder, 'new.properties')])).status, 0)
})

/** The settings that these lines become, and the report. */
async function translated(lines: readonly string[]): Promise<{ settings: string[]; report: string }> {
  const folder = await temporaryFolder()
  const [old, made] = [join(folder, 'entrystore.properties'), join(folder, 'new.properties')]
  writeFileSync(old, lines.join('\n'))
  const run = await stowage(folder, ['import', 'entrystore-config', old, '--output', made])
  assert.equal(run.status, 1, run.stderr)
  assert.equal((await stowage(folder, ['config', 'check', '--config', made])).status, 0)
  const settings = readFileSync(made, 'utf8').split('\n')
  return { settings: settings.filter(line => line.startsWith('service.')).sort(), report: run.stderr }
}

test('a value of a list that is refused costs only itself, and the others are numbered anew', async () => {
  const { settings, report } = await translated([
    'entrystore.auth.password=whitelist',
    'entrystore.auth.password.whitelist.1=',
    'entrystore.auth.password.whitelist.2=anna',
    'entrystore.auth.password.whitelist.10=carl',
    'entrystore.auth.password.whitelist.9=beth',
    'entrystore.cors=on',
    'entrystore.cors.origins=https://a.example.org, https://*.bad.example.org, https://b.example.org',
  ])
  assert.deepEqual(settings, [
    'service.auth.password.whitelist.1=anna',
    'service.auth.password.whitelist.2=beth',
    'service.auth.password.whitelist.3=carl',
    'service.auth.password=whitelist',
    'service.cors.origins.1=https\\://a.example.org',
    'service.cors.origins.2=https\\://b.example.org',
    'service.cors=on',
  ])
  assert.match(report, /dropped: entrystore\.auth\.password\.whitelist\.1\. It has no value/)
  assert.match(report, /changed: entrystore\.cors\.origins → .*service\.cors\.origins\.2 does not accept its value/)
  const closed = await translated(['entrystore.auth.password=whitelist', 'entrystore.auth.password.whitelist.1='])
  assert.deepEqual(closed.settings, ['service.auth.password=off'])
})

test('of two old keys for one setting the newer name stays, and the list on one line before numbers', async () => {
  const { settings, report } = await translated([
    'entrystore.auth.email.from=old@example.org',
    'entrystore.smtp.email.from=new@example.org',
    'entrystore.auth.http-basic=off',
    'entrystore.auth.http-basic.enabled=on',
    'entrystore.auth.password.blacklist.1=carl',
    'entrystore.auth.password.blacklist=anna,beth',
    'entrystore.auth.password.blacklist.3=dora',
    'entrystore.traversal.max-depth=4',
  ])
  assert.deepEqual(settings, [
    'service.auth.http-basic=on',
    'service.auth.password.blacklist.1=anna',
    'service.auth.password.blacklist.2=beth',
    'service.smtp.from=new@example.org',
  ])
  assert.match(report, /dropped: entrystore\.auth\.email\.from\. entrystore\.smtp\.email\.from sets the same/)
  assert.match(report, /dropped: entrystore\.auth\.http-basic\. entrystore\.auth\.http-basic\.enabled sets the same/)
  for (const number of [1, 3]) {
    const why = `blacklist.${number}. entrystore.auth.password.blacklist sets the same`
    assert.ok(report.includes(why), report)
  }
  assert.match(report, /dropped: entrystore\.traversal\.max-depth/)
})
