/** The address of a thread's module beside the file that names it: `.js` when compiled, `.ts` when run from source. */
export const threadModule = (name: string, beside: string): URL =>
  new URL(`./${name}${beside.endsWith('.ts') ? '.ts' : '.js'}`, beside)

/**
 * Options of each thread. Before Node 24 the whole process ends if a thread is ended while `require()` links an ES module, and a caller who
 * leaves ends a thread at any time; so `require()` takes none there. Options of the process are not passed on: threads refuse those of V8,
 * such as `--max-old-space-size`.
 */
export const withoutRequire =
  Number.parseInt(process.versions.node, 10) < 24 ? { execArgv: ['--no-experimental-require-module'] } : {}
