import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fill } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { newCommandProcess } from '../support/command-process.ts'
import { startProcess } from '../support/service.ts'
import { storeSettings } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Each way to call a command, as `help` prints it: `user add NAME [--password]…`. */
async function calls(): Promise<string[]> {
  const { stdout } = await stowage('/', ['help'])
  const found = stdout.split('\n').flatMap(line => /^(?: {2}| {7})([a-z].*)$/.exec(line)?.[1] ?? [])
  assert.ok(found.length > 30, stdout)
  return found
}

/** What a call needs: its words and the options that are not in brackets. */
const needed = (call: string): string[] => {
  const words = call.replaceAll(/\[[^\]]*\](?:…)?/g, '').split(/\s+/)
  return words.filter(word => word !== '' && word !== '|').map(word => word.replace('…', ''))
}

/** The bytes of everything below a folder, and when they were changed. */
async function stateOf(folder: string): Promise<Record<string, string>> {
  const state: Record<string, string> = {}
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name)
    const { mtimeMs, size } = await stat(path)
    const bytes = (await stat(path)).isFile() ? await readFile(path) : ''
    state[name] = `${mtimeMs} ${size} ${createHash('sha256').update(bytes).digest('hex')}`
  }
  return state
}

test('every command prints its usage with --help and -h, refuses unknown options, and changes nothing (D20.21)', async t => {
  const root = await temporaryFolder()
  const folder = join(root, 'data')
  await mkdir(folder)
  const service = await startProcess(t, { folder, settings: { 'service.data.quota': 'on' } })
  await fill(service, await service.admin())
  await service.stop()
  const before = await stateOf(root)
  const settings = { 'service.data.folder': folder, ...(await storeSettings(folder)) }
  const run = await newCommandProcess(t, { folder: root, settings })

  for (const call of await calls()) {
    const [name = '', ...rest] = needed(call)
    const verb = /^[a-z]/.test(rest[0] ?? '') ? rest.slice(0, 1) : []
    for (const flag of ['--help', '-h'])
      for (const words of [[], verb, rest]) {
        const args = [name, ...words, flag]
        const { status, stdout, stderr } = await run(args)
        assert.deepEqual([status, stderr], [0, ''], args.join(' '))
        assert.match(stdout, new RegExp(`^usage: stowage ${name}`), args.join(' '))
        if (words.length > 0) assert.ok(stdout.includes(`stowage ${[name, ...verb].join(' ')}`), args.join(' '))
      }
    for (const option of ['--no-such-option', '-Z'])
      for (const words of [[], rest]) {
        const args = [name, ...words, option]
        const { status, stdout, stderr } = await run(args)
        assert.deepEqual([status, stdout], [2, ''], args.join(' '))
        assert.match(stderr, new RegExp(`usage: stowage ${name}`), args.join(' '))
      }
  }
  assert.deepEqual(await stateOf(root), before)
})
