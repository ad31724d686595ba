import { after as afterAll } from 'node:test'

type Hook = () => unknown

const ofProcess: Hook[] = []
let isShared = false
let ofFile: Hook[] | undefined

/**
 * Runs `hook` when the tests of this file have ended. `after` of node:test would run it at the end of the process, which several files
 * may share (`scripts/batches`). Within a test it belongs to that test.
 */
export function after(hook: Hook): void {
  if (ofFile) ofFile.push(hook)
  else afterAll(hook)
}

/** Runs `hook` when the tests of all files of this process have ended. */
export function atProcessEnd(hook: Hook): void {
  if (isShared) ofProcess.push(hook)
  else afterAll(hook)
}

/** To be called once, by a process that loads several test files. */
export function shareProcess(): void {
  isShared = true
  afterAll(() => runHooks(ofProcess))
}

/** Loads a test file, and resolves to a function that runs its hooks. */
export async function loadFile(url: string): Promise<() => Promise<void>> {
  const hooks: Hook[] = []
  ofFile = hooks
  try {
    await import(url)
  } finally {
    ofFile = undefined
  }
  return () => runHooks(hooks)
}

/** Runs all of them, also after one that fails. @throws what the first one throws */
async function runHooks(hooks: readonly Hook[]): Promise<void> {
  const failures: unknown[] = []
  for (const hook of hooks) {
    try {
      await hook()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
