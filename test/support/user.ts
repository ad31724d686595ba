import { guestFrom } from '../../src/accounts/caller.ts'
import type { User } from '../../src/accounts/users.ts'

/** A user as the database would give him, without anything that a test does not ask for. */
export const userOf = (id: string, part: Partial<User> = {}): User => ({
  ...guestFrom({ address: '', userAgent: '' }).user,
  id,
  name: id,
  ...part,
})
