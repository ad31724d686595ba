import { Session } from 'node:inspector/promises'

// Import this file before the code under test: V8 counts the blocks only of functions that it compiles from now on.
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/**
 * The cost of `work` as the number of executed blocks of JavaScript: functions, loop bodies and branches, also in libraries.
 * Unlike a duration, this number depends neither on the machine nor on its load. Native code (regular expressions,
 * cryptography, copying) and other threads are not counted.
 */
export async function stepsOf(work: () => unknown): Promise<number> {
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  let steps = 0
  for (const { functions } of result) {
    for (const { ranges } of functions) for (const { count } of ranges) steps += count
  }
  return steps
}
