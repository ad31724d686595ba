import { createRequire } from 'node:module'
import type * as Library from 're2js'

export type Pattern = Library.RE2JS

const require = createRequire(import.meta.url)

/**
 * Compiles a pattern in the syntax RE2, which runs in linear time: no pattern can stall the service. The library, a quarter of a megabyte,
 * is loaded for the first pattern; most services have none.
 * @throws {Error} if the pattern is malformed
 */
export const compilePattern = (pattern: string): Pattern => (require('re2js') as typeof Library).RE2JS.compile(pattern)
