import type { Turn } from '../base/concurrency.ts'
/** A way to store passwords so that they can be checked but not read. Each scheme recognises its own stored form. */
export interface PasswordScheme {
  understands(stored: string): boolean
  /** Returns false for a wrong password and for stored parameters outside the scheme's limits. Runs off the event loop. */
  /** @param turn whom the check is for, where checks of several threads wait in one queue */
  verify(password: string, stored: string, turn?: Turn): Promise<boolean>
  /** True when the next login should store the password in the current form (D5.1). */
  outdated(stored: string): boolean
}
