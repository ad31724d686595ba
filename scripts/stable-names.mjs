// The names that a release keeps, one on each line: what the references and the texts of findings list, and what `stowage help` prints.
// `npm run stable` records them in docs/reference/stable-names.txt; without `--record` they are printed.
import './runtime.mjs'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const path = name => new URL(`../${name}`, import.meta.url)
const read = name => readFileSync(path(name), 'utf8')
const all = (text, pattern) => [...text.matchAll(pattern)].map(match => match.slice(1).join(' '))

/** The names in the first cells of the tables of a page. */
const inFirstCells = text => all(text, /^\| (`[^|]*`) \|/gm).flatMap(cell => all(cell, /`([^`]+)`/g))

/** Each way to call a command, and each of its options. */
function commandsIn(help) {
  const calls = all(help, /^(?: {2}| {7})([a-z].*)$/gm).filter(line => !line.endsWith('.'))
  return calls.flatMap(call => {
    const [words = ''] = /^[a-z][a-z-]*(?: [a-z][a-z-]*)*/.exec(call) ?? []
    return [words, ...all(call, /(--[a-z-]+)/g).map(option => `${words} ${option}`)]
  })
}

const printHelp = "await (await import('./src/commands/main.ts')).main(['help'])"
const node = ['--input-type=module', '--eval', printHelp]
const { stdout: help } = spawnSync(process.execPath, node, { cwd: path(''), encoding: 'utf8' })
const metrics = inFirstCells(read('docs/reference/metrics-and-logs.md')).filter(name => name.startsWith('stowage_'))
const events = inFirstCells(read('docs/reference/audit-log.md')).filter(name => /^[a-z-]+$/.test(name))
const kinds = {
  route: all(read('docs/interface.md'), /^### ([A-Z]+) `(\/[^`]*)`$/gm),
  code: all(read('docs/errors.md'), /^### `([a-z-]+)`$/gm),
  setting: all(read('docs/configuration.md'), /^\| `(service\.[^`]+)` \|/gm),
  command: commandsIn(help),
  metric: metrics,
  event: events,
  finding: all(read('ui/messages/findings/de.ts'), /^ {2}'?([a-z-]+)'?:/gm),
}
const names = Object.entries(kinds).flatMap(([kind, found]) => found.map(name => `${kind} ${name}`))
const list = `${[...new Set(names)].sort().join('\n')}\n`
if (process.argv.includes('--record')) writeFileSync(path('docs/reference/stable-names.txt'), list)
else process.stdout.write(list)
