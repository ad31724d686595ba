// The report: tables, missed goals, plots.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { plot } from './plot.mjs'

/** Writes benchmarks.md and its plots into the folder. */
export function write(folder, results) {
  mkdirSync(folder, { recursive: true })
  for (const curve of results.flatMap(({ curves = [] }) => curves))
    writeFileSync(join(folder, `${curve.name}.svg`), plot(curve))
  writeFileSync(join(folder, 'benchmarks.md'), report(results))
}

function report(results) {
  const rows = results.flatMap(({ rows }) => rows)
  const missed = rows.filter(row => row.goal && !isMet(row))
  const judged = rows.filter(({ goal }) => goal)
  return `# Benchmarks

Written by \`npm run bench\`. ${machine()}. Each figure is the median of rounds that alternate with those of its
counterpart; a ratio above 1 means that the first of the two is quicker. The client runs on the same machine.

| Part | Commit | Seconds | Load of the machine before |
|---|---|---|---|
${results.map(({ part, commit, seconds, load }) => `| ${part} | ${commit} | ${seconds} | ${load.toFixed(1)} |`).join('\n')}

## Goals that are not met

${missed.length === 0 ? `None of ${judged.length}.` : `${missed.length} of ${judged.length}:\n\n${table(missed)}`}
${results.map(part).join('')}`
}

const part = ({ title, rows, curves = [] }) => `
## ${title}

${table(rows)}
${curves.map(({ name, title }) => `\n![${title}](${name}.svg)\n`).join('')}`

const table = rows => `| | Measured | Goal | |
|---|---|---|---|
${rows.map(row => `| ${row.what} | **${show(row)}** | ${goalOf(row)} | ${[row.goal && (isMet(row) ? 'met' : 'not met'), row.note].filter(Boolean).join('; ')} |`).join('\n')}`

const isMet = ({ value, goal }) => value >= (goal.least ?? -Infinity) && value <= (goal.most ?? Infinity)

function goalOf({ goal, unit }) {
  if (!goal) return ''
  return goal.least === undefined ? `≤ ${show({ value: goal.most, unit })}` : `≥ ${show({ value: goal.least, unit })}`
}

function show({ value, unit }) {
  if (unit === 'ratio') return value.toFixed(2)
  const number = value >= 100 ? Math.round(value) : Number(value.toPrecision(3))
  return `${number}${unit === '/s' ? '' : ' '}${unit}`
}

const machine = () =>
  `Machine: ${cpus().length} × ${cpus()[0]?.model ?? 'processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
  `${process.platform} ${process.arch}, Node ${process.versions.node}`
