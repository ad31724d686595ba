import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { test } from 'node:test'
import { repository } from './support/service.ts'
import { en } from '../ui/messages/en.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

/** The files of the repository with one of these endings, with slashes; without packages and build output. */
function filesIn(folders: readonly string[], endings: RegExp): string[] {
  return folders.flatMap(folder =>
    readdirSync(join(repository, folder), { recursive: folder !== '.', withFileTypes: true })
      .filter(entry => entry.isFile() && endings.test(entry.name))
      .map(entry => relative(repository, join(entry.parentPath, entry.name)).split(sep).join('/')),
  )
}

const pages = filesIn(['.', 'bench', 'deploy', 'docs', 'migration', 'scripts', 'src', 'test', 'ui'], /\.md$/)
  // What `npm run bench` writes is not part of the repository.
  .filter(page => !page.startsWith('bench/report/'))

/** Written by `npm run docs` as a whole. Of other pages it writes what stands between two comments. */
const generated = new Set(['docs/configuration.md', 'docs/errors.md'])
const GENERATED_PART = /<!-- (?:operations|tests) -->[^]*?<!-- end -->/g
const CODE_BLOCK = /^ *```[^]*?^ *```$/gm

const prose = (page: string): string => read(page).replaceAll(GENERATED_PART, '').replaceAll(CODE_BLOCK, '')

test('names of code stand in backticks', () => {
  const known = new Set(['eduGAIN', 'kB'])
  const bare = pages.flatMap(page => {
    const text = prose(page)
      .replaceAll(/<!--[^]*?-->|`[^`]*`|https?:\S+/g, '')
      .replaceAll(/\]\([^)]*\)/g, ']')
      .replaceAll(/“[^”]+”/g, '')
    return [...text.matchAll(/(?<![\p{Letter}\w./-])[a-z]+[A-Z]\w*/gu)]
      .filter(([name]) => !known.has(name))
      .map(([name]) => `${page}: ${name}`)
  })
  assert.deepEqual(bare, [])
})

test('documents and comments name the number or the order that they mean', () => {
  const vague = /\bso many\b|\bso much\b|\bbusy machine\b|\bin turns\b/gi
  const files = [
    ...pages,
    ...filesIn(['bench', 'migration', 'scripts', 'src', 'test', 'ui'], /\.(?:ts|tsx|mjs|css)$/).filter(
      file => file !== 'test/prose.test.ts',
    ),
  ]
  assert.ok(files.length > 800, 'the files were not found')
  const found = files.flatMap(file => [...read(file).matchAll(vague)].map(([words]) => `${file}: ${words}`))
  assert.deepEqual(found, [])
})

/** Names in italics that are no names of these pages, by page. */
const otherNames: Readonly<Record<string, RegExp>> = {
  'docs/second-factors.md': /^Phone$/,
  'docs/how-to/sso-groups.md': /^(?:Group Membership|Full group path|Group list|Groups?)$/,
  'docs/how-to/sso-oidc.md': /^(?:Client authentication|Standard flow|Backchannel logout .+)$/,
  'docs/how-to/sso-saml.md': /^Default RelayState$/,
}

/** Names of the consoles of identity providers. */
const recipes = 'docs/how-to/sso-recipes.md'

test('a name in italics is a text of the pages', () => {
  const texts = Object.values<string>(en)
  const isShown = (name: string): boolean =>
    name.endsWith(' …') ? texts.some(text => text.startsWith(name.slice(0, -2))) : texts.includes(name)
  const named = pages
    .filter(page => !generated.has(page) && page !== recipes)
    .flatMap(page =>
      [...prose(page).matchAll(/(?<![*\w])\*([A-Z][^*\n]*)\*(?!\*)/g)].map(([, name = '']) => ({ page, name })),
    )
  assert.ok(named.length > 100, 'the names were not found')
  const unknown = named
    .filter(({ page, name }) => !isShown(name) && otherNames[page]?.test(name) !== true)
    .map(({ page, name }) => `${page}: ${name}`)
  assert.deepEqual(unknown, [])
})
