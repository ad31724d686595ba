/** Keys of earlier versions that no longer have a meaning, and what to do instead. */
export const removedKeys: ReadonlyMap<string, string> = new Map([
  [
    'service.http.threads',
    'a process answers with one thread; for more cores, start several processes on PostgreSQL and Redis (docs/how-to/several-nodes.md)',
  ],
])
