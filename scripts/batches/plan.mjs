// Test files that share a process. Starting Node, loading the service and warming up the compiler costs most files more than their tests.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/**
 * Test files per process, by folder of test/. The folders are in the order in which they begin: the longest processes first, so that none
 * of them is left at the end. Files of other folders have a process of their own, as they mostly wait for programs that they start.
 */
const SIZES = {
  proof: 1,
  wire: 1,
  upgrades: 1,
  backup: 1,
  ui: 4,
  scenarios: 8,
  client: 5,
  migration: 3,
  files: 5,
  sso: 8,
  stores: 6,
  accounts: 6,
  search: 5,
  graph: 6,
  http: 12,
  config: 8,
  content: 10,
  proxy: 3,
  base: 12,
}

/** A file that measures, changes or ends the whole process has one of its own, and so has one whose hooks run when the process ends. */
const ALONE = new RegExp(
  [
    String.raw`support/(?:steps|s3)\.ts`,
    String.raw`\bprocess\.(?:chdir|exit|kill|memoryUsage|cpuUsage)\b`,
    String.raw`\bprocess\.env\[[^\]]+\] =(?!=)`,
    String.raw`\bObject\.assign\(process\.env\b`,
    String.raw`\bmock\.`,
    String.raw`import \{[^}]*\b(?:after|before|afterEach|beforeEach)\b[^}]*\} from 'node:test'`,
  ].join('|'),
)

const RUNNER = new URL('run.mjs', import.meta.url).href

/**
 * Writes a module for each process, which runs its test files one after the other.
 * @param files absolute paths @param tests the folder of the tests @param target the folder for the modules
 * @returns the paths of the modules, which the test runner starts in the order of their names
 */
export function writeBatches(files, { tests, target }) {
  const batches = plan(files, tests)
  return batches.map((batch, index) => {
    const path = join(target, `${String(index).padStart(3, '0')}.test.mjs`)
    writeFileSync(
      path,
      `import { runFiles } from '${RUNNER}'\nrunFiles(${JSON.stringify({ tests, files: batch }, null, 2)})\n`,
    )
    return path
  })
}

function plan(files, tests) {
  const folderOf = file => relative(tests, file).split(sep)[0]
  const order = Object.keys(SIZES)
  const folders = [...new Set([...order, ...files.map(folderOf)])]
  return folders.flatMap(folder => {
    const own = files.filter(file => folderOf(file) === folder)
    const isAlone = file => SIZES[folder] === undefined || ALONE.test(readFileSync(file, 'utf8'))
    return [
      ...own.filter(isAlone).map(file => [file]),
      ...evenly(
        own.filter(file => !isAlone(file)),
        SIZES[folder],
      ),
    ]
  })
}

/** Parts of at most `size` members. Neighbours come into different parts: files of similar names are often similarly long. */
function evenly(all, size) {
  const count = Math.ceil(all.length / size)
  return Array.from({ length: count }, (_, part) => all.filter((_, index) => index % count === part))
}
