import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { repository } from './support/service.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const urlOf = (path: string): string => pathToFileURL(join(repository, path)).href

const START = `
  import assert from 'node:assert/strict'
  import { createServer } from 'node:http'
  import { test } from 'node:test'
  import { after, atProcessEnd } from '${urlOf('test/support/after.ts')}'
`

/** Runs these files in one process, as `npm test` does. */
async function run(
  sources: Readonly<Record<string, string>>,
  { maxRunMs }: { readonly maxRunMs?: number } = {},
): Promise<{ status: number | null; output: string }> {
  const folder = await temporaryFolder()
  const files = Object.keys(sources).map(name => join(folder, `${name}.test.mjs`))
  for (const [index, source] of Object.values(sources).entries())
    await writeFile(files[index] as string, START + source)
  const batch = join(folder, 'batch.test.mjs')
  const options = { tests: join(repository, 'test'), files, maxWaitMs: 50, maxRunMs }
  await writeFile(
    batch,
    `import { runFiles } from '${urlOf('scripts/batches/run.mjs')}'\nrunFiles(${JSON.stringify(options)})`,
  )
  const reporter = urlOf('scripts/progress-reporter.mjs')
  const child = spawn(process.execPath, ['--test', `--test-reporter=${reporter}`, batch], {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, STOWAGE_TEST_TIMES: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, output }
}

test('files that share a process run one after the other, each with its hooks, and share what ends with the process', async () => {
  const { status, output } = await run({
    one: `
      globalThis.order = ['one is loaded']
      await new Promise(setImmediate)
      after(() => order.push('hook of one'))
      after(async () => order.push('second hook of one'))
      atProcessEnd(() => console.log(order.join(', ')))
      test('first', () => order.push('first'))
      test('second', async t => {
        after(() => order.push('hook of second'))
        order.push('second')
      })
    `,
    two: `
      order.push('two is loaded')
      after(() => order.push('hook of two'))
      test('third', () => order.push('third'))
    `,
  })
  assert.equal(status, 0, output)
  const order = [
    'one is loaded',
    'first',
    'second',
    'hook of second',
    'hook of one',
    'second hook of one',
    'two is loaded',
    'third',
    'hook of two',
  ]
  assert.ok(output.includes(order.join(', ')), output)
})

test('no failure in a shared process hides another: of a test, a hook, an import, or outside of all tests', async () => {
  const { status, output } = await run({
    one: `test('is wrong', () => assert.equal(1, 2))`,
    two: `
      after(() => { throw new Error('first hook') })
      after(() => console.log('second hook runs'))
    `,
    three: `throw new Error('import of three')`,
    four: `
      setImmediate(() => { throw new Error('stray') })
      test('waits', async () => {
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      })
    `,
    five: `test('is the last', () => console.log('the last test runs'))`,
  })
  assert.equal(status, 1, output)
  for (const text of [
    /✖ is wrong\n {2}\S*one\.test\.mjs:/,
    /✖ \S*two\.test\.mjs leaves the process as it was\n.*\n {4}Error: first hook/,
    /second hook runs/,
    /✖ \S*three\.test\.mjs is loaded\n.*\n {4}Error: import of three/,
    /An error outside of all tests, while \S*four\.test\.mjs ran/,
    /stray/,
    /the last test runs/,
  ])
    assert.match(output, text)
})

test('what a file leaves behind in a shared process is a failure: variables, replaced functions, listeners, servers', async () => {
  const { status, output } = await run({
    one: `process.env.LEFT = 'secret'`,
    two: `Date.now = () => 0`,
    three: `process.on('SIGTERM', () => {})`,
    four: `createServer().listen(0, '127.0.0.1').unref(); after(() => {})`,
    five: `
      const server = createServer().listen(0, '127.0.0.1')
      await new Promise(resolve => server.once('listening', resolve))
      atProcessEnd(() => server.close())
    `,
    six: `test('nothing', () => {})`,
  })
  assert.equal(status, 1, output)
  const failed = [...output.matchAll(/✖ \S*?(\w+)\.test\.mjs leaves the process as it was/g)].map(([, name]) => name)
  assert.deepEqual(failed, ['one', 'two', 'three', 'five'])
  assert.match(output, /LEFT/)
  assert.ok(!output.includes('secret'), 'a value may be a secret')
})

test('a process that ends early fails, and says which files it has not run', async () => {
  const { status, output } = await run({
    one: `test('ends everything', () => process.exit(0))`,
    two: `test('never runs', () => {})`,
  })
  assert.equal(status, 1, output)
  assert.match(output, /Ended before the tests of \S*one\.test\.mjs, \S*two\.test\.mjs had/)
})

test('a process that does not end is ended, and says what it waits for', async () => {
  const hangs = `
    test('waits for what never comes', async () => {
      const server = createServer(() => {}).listen(0, '127.0.0.1')
      await new Promise(resolve => server.once('listening', resolve))
      await fetch('http://127.0.0.1:' + server.address().port)
    })
  `
  const { status, output } = await run({ hangs }, { maxRunMs: 2000 })
  assert.equal(status, 1, output)
  assert.match(output, /has not ended after 2 s\. It waits for:\n/)
  assert.match(output, /Ended before the tests of \S*hangs\.test\.mjs had/)
})
