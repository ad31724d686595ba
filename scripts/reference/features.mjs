// The table of features in docs/architecture.md: where each is, and which other files know it.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'
import { features } from '../../src/features/features.ts'
import { root } from '../prepare.mjs'

const START = '<!-- Generated from src/features/ by `npm run docs`. -->'
const END = '<!-- end -->'

/** @returns for each feature its folder below `src/`, and the files outside it that name it */
export function featureUses() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts'))
    .map(path => path.split(sep).join('/'))
    .map(path => ({ path, text: readFileSync(join(root, 'src', path), 'utf8') }))
  return features.map(feature => {
    const { name, settings, codes, events } = feature
    const folder = `features/${name}/`
    // A feature that declares this one among its needs builds on it, in whichever of its files.
    const builders = features
      .filter(({ needs }) => Object.values(needs).includes(feature))
      .map(one => `features/${one.name}/`)
    const placeOf = ({ path }) => builders.find(builder => path.startsWith(builder)) ?? path
    const own = sources.filter(({ path }) => path.startsWith(folder))
    const names = [...Object.keys({ ...settings?.rows, ...codes }), ...events]
    const tables = own.flatMap(tablesOf)
    const outside = sources.filter(source => !own.includes(source))
    const uses = outside.filter(
      source =>
        imports(source, folder) ||
        names.some(one => mentions(source, one)) ||
        tables.some(table => usesTable(source, table)),
    )
    return { name, folder, files: [...new Set(uses.map(placeOf))].sort((a, b) => (a < b ? -1 : 1)) }
  })
}

/** The tables that a file makes, or whose rows it writes: the step that makes a table may be in the core. */
const tablesOf = ({ text }) =>
  [...text.matchAll(/\b(?:CREATE TABLE|INSERT (?:OR \w+ )?INTO|DELETE FROM|(?<!DO )UPDATE) ([a-z_]+)/g)].map(
    ([, table]) => table,
  )

/** In SQL, or in quotes: the name alone may be a word of a comment. */
const usesTable = ({ text }, table) =>
  new RegExp(`\\b(?:TABLE|FROM|INTO|UPDATE|JOIN|ON) ${table}\\b|'${table}'`).test(text)

const imports = ({ path, text }, folder) =>
  [...text.matchAll(/(?:from|import\(?) ?'(\.[^']+)'/g)].some(([, file]) =>
    posix.join(dirname(path), file).startsWith(folder),
  )

const mentions = ({ text }, name) => new RegExp(`(?<![\\w.-])${name.replaceAll('.', '\\.')}(?![\\w.-])`).test(text)

/** The page with its table made anew. */
export function withFeatures(page) {
  const [before, after] = [page.indexOf(START), page.indexOf(END, page.indexOf(START))]
  const uses = featureUses()
  const rows = uses.map(
    ({ folder, files }) => `| \`${folder}\` | ${files.length} | ${files.map(file => `\`${file}\``).join(', ')} |`,
  )
  const table = [
    '| Folder under `src/` | Files outside the folder that name the feature | Which |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
  const counts = uses.map(({ files }) => files.length).sort((a, b) => a - b)
  const summary = `The median is ${counts[Math.floor(counts.length / 2)]}, and the largest number is ${counts.at(-1)}:`
  return `${page.slice(0, before)}${START}\n${summary}\n\n${table}\n\n${page.slice(after)}`
}
