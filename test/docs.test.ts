import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { test } from 'node:test'
import { usage } from '../src/commands/commands.ts'
import { keys } from '../src/config/keys.ts'
import { secretOfFile } from '../src/config/key-pattern.ts'
import { repository } from './support/service.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

/** Every page below docs/, relative to the repository, with slashes. */
const docs = readdirSync(join(repository, 'docs'), { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && entry.name.endsWith('.md'))
  .map(entry => relative(repository, join(entry.parentPath, entry.name)).split(sep).join('/'))
const guides = docs.filter(page => /^docs\/(?:how-to|reference)\//.test(page))

const withoutCode = (text: string): string => text.replaceAll(/^ *```[^]*?^ *```$/gm, '')

/** The addresses that the links of a page lead to, without those of other servers. */
const linksOf = (page: string): string[] =>
  [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter(link => !/^[a-z]+:/.test(link))

/** The page or file that a link leads to, and the heading on it. */
function targetOf(page: string, link: string): { readonly file: string; readonly heading: string | undefined } {
  const [path = '', heading] = link.split('#')
  return { file: path === '' ? page : posix.join(dirname(page), path), heading }
}

/** The headings of a page as links name them. */
const headingsOf = (page: string): string[] =>
  [...withoutCode(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )

function isBroken(page: string, link: string): boolean {
  const { file, heading } = targetOf(page, link)
  if (!existsSync(join(repository, file))) return true
  return heading !== undefined && file.endsWith('.md') && !headingsOf(file).includes(heading)
}

test('every link of a page leads to a file, and to a heading on it', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'RELEASING.md', 'deploy/README.md', ...docs]
  const links = pages.flatMap(page => linksOf(page).map(link => ({ page, link })))
  assert.ok(links.length > 300, 'the links were not found')
  const broken = links.filter(({ page, link }) => isBroken(page, link)).map(({ page, link }) => `${page}: ${link}`)
  assert.deepEqual(broken, [])
})

test('docs/README.md names every page, and the notes of design by their list', () => {
  const map = 'docs/README.md'
  const named = linksOf(map).map(link => targetOf(map, link).file)
  const missing = docs.filter(
    page => page !== map && !/^docs\/dev\/adr\/(?!README)/.test(page) && !named.includes(page),
  )
  assert.deepEqual(missing, [])
})

test('every row of docs/compatibility.md links a test that shows it', () => {
  const rows = read('docs/compatibility.md')
    .split('\n')
    .filter(line => /^\| (?!Topic)/.test(line))
  assert.ok(rows.length > 50, 'the rows were not found')
  const shown = /\]\(\.\.\/test\/[\w/-]+\.test\.ts\) \|$/
  assert.deepEqual(
    rows.filter(row => !shown.test(row)),
    [],
  )
})

test('configuration files that a page shows are those of deploy/', () => {
  let found = 0
  for (const page of docs) {
    const text = read(page)
    for (const [, before = '', , shown = ''] of text.matchAll(
      /^(.*)\n```(systemd|nginx|apache|caddyfile|dockerfile)\n([^]*?)^```$/gm,
    )) {
      const [, file] = /^<!-- (deploy\/\S+) -->$/.exec(before) ?? []
      assert.ok(file !== undefined, `${page} shows a file without the line <!-- deploy/FILE --> before it`)
      assert.equal(shown.trim(), read(file).trim(), `${page} shows ${file} as it is not`)
      found++
    }
  }
  assert.ok(found >= 2, 'the files were not found')
})

const isPlaceholder = (part: string | undefined): boolean => part?.startsWith('<') === true

/** Whether it is the name of a setting, or with a dot at its end the beginning of one. The last placeholder may stand for dots, too. */
function isSetting(name: string): boolean {
  const isBeginning = name.endsWith('.')
  const parts = name.replace(/\.$/, '').split('.')
  return Object.keys(keys).some(key => {
    const own = key.split('.')
    const last = own.at(-1)
    if (parts.length < own.length && !isBeginning) return false
    return parts.every((part, at) => {
      const expected = at < own.length ? own[at] : last
      return isPlaceholder(expected) || part === own[at]
    })
  })
}

test('the guides name only settings that exist', () => {
  const named = guides.flatMap(page =>
    [...read(page).matchAll(/(?:^ *|`|--set )(service(?:\.(?:[\w<>-]|\\:)+)+\.?)(?=[\s=`])/gm)].map(
      ([, name = '']) => ({ page, name }),
    ),
  )
  assert.ok(named.length > 150, 'the settings were not found')
  const unknown = named
    .filter(({ name }) => name !== 'service.properties' && !isSetting(name) && secretOfFile(name) === undefined)
    .map(({ page, name }) => `${page}: ${name}`)
  assert.deepEqual(unknown, [])
})

test('docs/reference/cli.md has a row for every command', async () => {
  const rows = read('docs/reference/cli.md')
  const names = [...(await usage()).matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name)
  assert.ok(names.length > 10, 'the commands were not found')
  const missing = names.filter(name => !new RegExp(`^\\| (?:.*, )?\`${name}\\b`, 'm').test(rows))
  assert.deepEqual(missing, [])
})
