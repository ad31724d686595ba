import { guestFrom } from '../../src/accounts/caller.ts'
import type { User } from '../../src/accounts/users.ts'

/** A user as the database returns it, with only the properties that a test needs. */
export const userOf = (id: string, part: Partial<User> = {}): User => ({
  ...guestFrom({ address: '', userAgent: '' }).user,
  id,
  name: id,
  ...part,
})
