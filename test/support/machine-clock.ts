const isOfClock = (name: string): boolean => name === 'LD_PRELOAD' || name.startsWith('FAKETIME')

/**
 * What moves the clock of a program that the tests start with little environment, in a run on another day (`scripts/test.mjs --date`). Browsers
 * and Redis do not start with it. What pages take for the time is set in `newPerson`.
 */
export const clockVariables: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    isOfClock(name) && value !== undefined ? [[name, value]] : [],
  ),
)
