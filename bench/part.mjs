// Runs one part of the benchmarks and sends its result to `main.mjs`. Started by hand, it prints the result
// and passes options of Node on to the service: `node --cpu-prof --cpu-prof-dir=DIR bench/part.mjs auth`
// profiles it.
import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'

const [name] = process.argv.slice(2)
const { measure } = await import(`./${name}.mjs`)
const say = Object.assign(text => process.stderr.write(`  ${text}\n`), {
  rate: rate => `${rate >= 10 ? Math.round(rate) : rate.toFixed(1)}/s`,
})
const before = loadavg()[0]
const result = await measure(say)
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim()
const commit = `${git('rev-parse', '--short=10', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' and changes'}`
const outcome = { part: name, commit, load: before, ...result }
if (process.send) process.send(outcome, () => process.disconnect())
else process.stdout.write(`${JSON.stringify(outcome, undefined, 2)}\n`)
