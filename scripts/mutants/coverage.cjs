// Loaded into the tests, and into every thread and process that they start: notes each mutant whose code is reached, at once, because
// a thread or process may be killed.
const { openSync, writeSync } = require('node:fs')
const path = require('node:path')
const { threadId } = require('node:worker_threads')

const reached = openSync(path.join(process.env.MUTANTS_REACHED, `${process.pid}-${threadId}`), 'a')
// The first time that a mutant is reached, its count is missing, and the prototype is asked. From then on the count is an ordinary
// property: a proxy for each of them would take minutes where code runs in a loop.
const firstTimes = new Proxy(
  {},
  {
    set(_target, id, value, counts) {
      writeSync(reached, `${String(id)}\n`)
      return Reflect.defineProperty(counts, id, { value, writable: true, enumerable: true, configurable: true })
    },
  },
)
globalThis.__stryker__ = { mutantCoverage: { static: Object.create(firstTimes), perTest: {} } }
