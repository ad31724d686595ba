import { createHash } from 'node:crypto'

/** What the database keeps of a random token: enough to know it again, not to use it. Random tokens need no slow hash. */
export const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
