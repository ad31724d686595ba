import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { repository } from './support/service.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  version: string
  homepage: string
  bugs: { url: string; email: string }
  config: { image: string }
}
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' })
  .split('\0')
  .filter(Boolean)
const workflows = tracked.filter(path => path.startsWith('.github/workflows/'))

type Step = { readonly uses?: string; readonly run?: string }
type Workflow = {
  readonly permissions: object
  readonly jobs: Record<string, { readonly 'timeout-minutes': number; readonly steps: readonly Step[] }>
}

test('the placeholder of the owner stands in the addresses of package.json only', () => {
  const name = new URL(manifest.homepage).pathname.slice(1)
  const addresses = [manifest.homepage, manifest.config.image, manifest.bugs.email, `--repo ${name}`]
  const files = tracked.filter(path => /\.(?:md|yml|yaml|txt)$|^deploy\/|^AUTHORS$|^NOTICE$/.test(path))
  assert.ok(files.length > 80, 'the documents were not found')
  const found = files.filter(path => {
    const text = addresses.reduce((left, address) => left.replaceAll(address, ''), read(path))
    return /\bOWNER[/.]/.test(text)
  })
  assert.deepEqual(found, [])
})

test('workflows pin each action to a commit, limit their time, and ask for no right for all jobs', () => {
  assert.deepEqual(workflows.length, 3)
  for (const path of workflows) {
    const { permissions, jobs } = parse(read(path)) as Workflow
    assert.deepEqual(permissions, { contents: 'read' }, path)
    for (const [name, job] of Object.entries(jobs)) {
      assert.ok(job['timeout-minutes'] > 0, `${path}: ${name}`)
      for (const { uses } of job.steps) if (uses) assert.match(uses, /^[\w-]+(?:\/[\w-]+)+@[0-9a-f]{40}$/, path)
    }
  }
})

test('the workflow of CI runs every part of .ci/run, and .ci/run refuses an unknown part', () => {
  const ci = parse(read('.github/workflows/ci.yml')) as { jobs: { part: { strategy: { matrix: { part: string[] } } } } }
  const [, parts] = /^parts=\((.*)\)$/m.exec(read('.ci/run')) ?? []
  assert.deepEqual(ci.jobs.part.strategy.matrix.part, parts?.split(' '))
  const { status, stderr } = spawnSync('bash', ['.ci/run', 'check', 'nonsense'], { cwd: repository, encoding: 'utf8' })
  assert.equal(status, 2)
  assert.match(stderr, /must be one of .*, but is nonsense/)
})

test('a release needs its tag, its dated section of the changes and the real addresses', () => {
  const check = (tag: string) =>
    spawnSync(process.execPath, ['scripts/release/check.mjs', tag], { cwd: repository, encoding: 'utf8' })
  const wrong = check('v99.0.0')
  assert.equal(wrong.status, 1)
  assert.ok(wrong.stderr.includes(`The tag must be "v${manifest.version}" as in package.json, but is "v99.0.0".`))
  const right = check(`v${manifest.version}`)
  assert.ok(!right.stderr.includes('The tag must be'))
  assert.equal(right.stderr.includes('placeholder'), manifest.homepage.includes('OWNER'))
})

test('the text of a release is the section of its version in the changes', () => {
  const notes = (version: string) =>
    spawnSync(process.execPath, ['scripts/release/notes.mjs', version], { cwd: repository, encoding: 'utf8' })
  const missing = notes('99.0.0')
  assert.equal(missing.status, 1)
  assert.match(missing.stderr, /^CHANGELOG.md has no section "## \[99\.0\.0\]"\. Its sections are "## \[/)
  const [, first = ''] = /^## \[([^\]]+)\]/m.exec(read('CHANGELOG.md')) ?? []
  const { status, stdout } = notes(first)
  assert.equal(status, 0)
  assert.match(stdout, /^### /)
  assert.doesNotMatch(stdout, /^## /m)
})
