import type { User } from '../../src/accounts/users.ts'

/** A user as the database would give him, without anything that a test does not ask for. */
export const userOf = (id: string, part: Partial<User> = {}): User => ({
  id,
  name: id,
  password: undefined,
  epoch: 1,
  sparedLogin: undefined,
  disabled: false,
  unlocks: 0,
  language: undefined,
  homeContext: undefined,
  customProperties: {},
  ...part,
})
