import { hash } from 'node:crypto'

/**
 * The part of a random token that the database stores: enough to recognise the token, not to use it. Random tokens need no
 * slow hash.
 */
export const digestOf = (token: string): string => hash('sha256', token)
