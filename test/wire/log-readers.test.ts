import assert from 'node:assert/strict'
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { Visitor } from '../support/http-client.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { program } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

interface Started {
  readonly child: ChildProcess
  readonly visitor: Visitor
  /** Sends SIGTERM and resolves to the exit status. */
  readonly stop: () => Promise<number | null>
}

/** The program, with its output where the test wants it. */
async function start(t: TestContext, output: StdioOptions): Promise<Started> {
  const folder = await temporaryFolder()
  const port = await freePort()
  const settings = [`data.folder=${folder}`, `http.port=${port}`]
  const sets = settings.flatMap(setting => ['--set', `service.${setting}`])
  const child = spawn(process.execPath, [program, 'serve', ...sets], { cwd: folder, stdio: output })
  const ended = once(child, 'close') as Promise<[number | null]>
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const visitor = new Visitor(`http://127.0.0.1:${port}/`)
  await eventually('it serves, or has ended', async () => {
    if (child.exitCode !== null) return true
    const answer = await visitor.get('management/status').catch(() => undefined)
    return answer?.status === 200
  })
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM')
    return (await ended)[0]
  }
  return { child, visitor, stop }
}

/** Requests, each on a connection of its own, The log has a line of `length` for each. */
async function request(visitor: Visitor, count: number, length = 10): Promise<void> {
  const path = `${'x'.repeat(99)}/`.repeat(Math.ceil(length / 100))
  for (let done = 0; done < count; done += 20) {
    const some = Array.from({ length: 20 }, () => visitor.get(path, { connection: 'close' }))
    for (const { status } of await Promise.all(some)) assert.equal(status, 404)
  }
}

const FULL = '/dev/full'
const onFullDevice = { skip: !existsSync(FULL) && 'this system has no device that is always full' }

test('a service whose output goes to a full disk serves (D35.32)', onFullDevice, async t => {
  const full = openSync(FULL, 'w')
  t.after(() => closeSync(full))
  const { visitor, stop } = await start(t, ['ignore', full, full])
  await request(visitor, 40)
  assert.equal(await stop(), 0)
})

test('a service goes on when the readers of its output have gone (D35.32)', async t => {
  const { child, visitor, stop } = await start(t, ['ignore', 'pipe', 'pipe'])
  child.stdout?.destroy()
  child.stderr?.destroy()
  await request(visitor, 40)
  assert.equal(await stop(), 0)
})

test('a reader of the log that takes nothing delays no request (D35.32)', async t => {
  const { child, visitor, stop } = await start(t, ['ignore', 'ignore', 'pipe'])
  // More than waits for the reader.
  await request(visitor, 600, 8000)
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  await eventually('what was dropped is counted', async () => {
    await request(visitor, 20)
    return /"lines":\d+,"msg":"lines of the log were dropped/.test(log)
  })
  assert.equal(await stop(), 0)
  const lines = log.trimEnd().split('\n')
  for (const line of lines) assert.equal(typeof JSON.parse(line), 'object')
})
