import { moduleOf } from './modules.mjs'

const MAX_CHARACTERS = 80

/** The numbers by module, and each mutant that no test has found, as Markdown. */
export function report({ mutants, results, seed }) {
  const outcomes = new Map(results.map(({ id, outcome }) => [id, outcome]))
  const tried = mutants
    .filter(({ id }) => outcomes.has(id))
    .map(mutant => ({ ...mutant, outcome: outcomes.get(mutant.id) }))
  const isFound = ({ outcome }) => outcome === 'killed' || outcome === 'timeout'
  const row = (name, isIn) => {
    const some = tried.filter(isIn)
    const number = outcome => some.filter(mutant => mutant.outcome === outcome).length
    const found = some.filter(isFound).length
    const share = some.length === 0 ? '' : `${Math.round((100 * found) / some.length)} %`
    const cells = [name, mutants.filter(isIn).length, some.length, found, share]
    return `| ${[...cells, number('timeout'), number('survived'), number('not reached')].join(' | ')} |`
  }
  const names = [...new Set(mutants.map(({ path }) => moduleOf(path)))]
  return [
    `Tried ${tried.length} of ${mutants.length} mutants${tried.length < mutants.length ? `, drawn with seed ${seed}` : ''}.`,
    '',
    '| Module | Mutants | Tried | Found | Share | Found by a timeout | Survived | Not reached by the tests of the module |',
    '|---|---|---|---|---|---|---|---|',
    ...names.map(name => row(name, ({ path }) => moduleOf(path) === name)),
    row('all', () => true),
    '',
    ...tried.filter(mutant => !isFound(mutant)).map(mutant => `- ${mutant.outcome}: \`${describe(mutant)}\``),
    '',
  ].join('\n')
}

/** The place of a mutant, with the text before and after. */
export function describe({ path, location: { start }, mutator, original, replacement }) {
  return `${path}:${start.line + 1}:${start.column + 1} ${mutator}: ${brief(original)} → ${brief(replacement)}`
}

function brief(text) {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line
}
