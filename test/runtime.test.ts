import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { repository } from './support/service.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const older = findOlderNode()
const skip = older === undefined ? 'there is no Node.js before 24 in PATH' : false

/** The first `node` in PATH that is too old for the service. */
function findOlderNode(): string | undefined {
  const programs = (process.env['PATH'] ?? '').split(delimiter).map(folder => join(folder, 'node'))
  return programs.find(program => {
    const { status, stdout } = spawnSync(program, ['-p', 'parseInt(process.versions.node)'], { encoding: 'utf8' })
    return status === 0 && Number(stdout) < 24
  })
}

/** A copy of the script beside one that does `work`, and an npm that "installs" the Node.js of this test as `npm` says. */
async function scripts(work: string, npm = 'ln -s "$NODE_OF_TEST" "$folder/node"') {
  const root = await temporaryFolder()
  const bin = join(root, 'bin')
  await mkdir(join(root, 'scripts'))
  await mkdir(bin)
  await copyFile(join(repository, 'scripts/runtime.mjs'), join(root, 'scripts/runtime.mjs'))
  await writeFile(join(root, 'scripts/work.mjs'), `import './runtime.mjs'\n${work}\n`)
  await writeFile(
    join(bin, 'npm'),
    `#!/bin/sh
for last; do :; done
package="\${last%@*}"
folder="$3/node_modules/$package/bin"
mkdir -p "$folder"
${npm}
`,
  )
  await chmod(join(bin, 'npm'), 0o755)
  const env = { PATH: [bin, '/usr/bin', '/bin'].join(delimiter), NODE_OF_TEST: process.execPath }
  const start = (...args: string[]) =>
    spawn(older as string, [join(root, 'scripts/work.mjs'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  return { root, start }
}

async function ended(child: ReturnType<typeof spawn>) {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

test('a script on an older Node.js installs a newer one once, says so in a line, and goes on with it', {
  skip,
}, async () => {
  const { root, start } = await scripts(`
    import { spawnSync } from 'node:child_process'
    const child = spawnSync('node', ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim()
    console.log(JSON.stringify({ own: process.versions.node, child, args: process.argv.slice(2) }))
    process.exit(7)`)
  const first = await ended(start('a', '--b'))
  const own = process.versions.node
  assert.deepEqual(JSON.parse(first.stdout), { own, child: own, args: ['a', '--b'] })
  assert.equal(first.code, 7)
  assert.match(first.stderr, /^Node\.js \S+ is too old: installing 24\.\S+ into \.node\/ …\n$/)
  assert.equal((await readdir(join(root, '.node'))).length, 1)
  assert.equal((await ended(start())).stderr, '')
})

test('an older Node.js without a newer one to install ends the script with one line more', { skip }, async () => {
  const { root, start } = await scripts('console.log("never")', 'exit 1')
  const { code, stdout, stderr } = await ended(start())
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /\nNode\.js 24 or newer is needed, and node-\S+ could not be installed\.\n$/)
  assert.deepEqual(await readdir(join(root, '.node')), [])
})

test('a signal that ends the script on an older Node.js ends the one on the newer', { skip }, async () => {
  const { start } = await scripts(`
    process.on('SIGTERM', () => process.exit(9))
    setInterval(() => {}, 1000)
    console.log('ready')`)
  const child = start()
  child.stdout.once('data', () => child.kill('SIGTERM'))
  assert.equal((await ended(child)).code, 9)
})

test('the program on an older Node.js says in one line what it needs', { skip }, () => {
  const { status, stderr } = spawnSync(older as string, [join(repository, 'bin/stowage.js'), 'serve'], {
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.match(stderr, /^Stowage needs Node\.js 24 or newer; this is \S+\.\n$/)
})

test('with the Node.js it needs a script runs as it is', async () => {
  const { root } = await scripts('console.log(process.execPath)')
  const output = execFileSync(process.execPath, [join(root, 'scripts/work.mjs')], {
    encoding: 'utf8',
    env: { PATH: dirname(process.execPath) },
  })
  assert.equal(output.trim(), process.execPath)
  assert.ok(!(await readdir(root)).includes('.node'))
})

/** What a script imports before its first line runs, in other files too. */
function linked(path: string, found = new Set<string>()): ReadonlySet<string> {
  const text = readFileSync(join(repository, path), 'utf8')
  for (const [, name = ''] of text.matchAll(/^(?:import|export) (?:[^'(;]*? from )?'([^']+)'/gm)) {
    const target = name.startsWith('.') ? posix.join(dirname(path), name) : name
    if (found.has(target)) continue
    found.add(target)
    if (target.endsWith('.mjs')) linked(target, found)
  }
  return found
}

test('a script that may begin on an older Node.js in a clean clone links no file with types', async () => {
  const folders = await Promise.all(
    ['scripts', 'bench'].map(async name => (await readdir(join(repository, name))).map(file => `${name}/${file}`)),
  )
  const started = folders.flat().filter(path => path.endsWith('.mjs') && linked(path).has('scripts/runtime.mjs'))
  assert.ok(started.includes('scripts/package.mjs') && started.includes('bench/main.mjs'))
  const wrong = started.flatMap(path => {
    const names = [...linked(path)].filter(name => name.endsWith('.ts'))
    return names.map(name => `${path} links ${name}`)
  })
  assert.deepEqual(wrong, [])
})
