// Loaded into the tests, and into every thread and process that they start: notes each mutant whose code is reached, at once, because
// a thread or process may be killed.
const { openSync, writeSync } = require('node:fs')
const path = require('node:path')
const { threadId } = require('node:worker_threads')

const reached = openSync(path.join(process.env.MUTANTS_REACHED, `${process.pid}-${threadId}`), 'a')
const counts = new Proxy(
  {},
  {
    set(target, id) {
      if (target[id] === undefined) writeSync(reached, `${String(id)}\n`)
      target[id] = 1
      return true
    },
  },
)
globalThis.__stryker__ = { mutantCoverage: { static: counts, perTest: {} } }
