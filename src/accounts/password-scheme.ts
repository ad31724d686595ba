/** A way to store passwords so that they can be checked but not read. Each knows its own stored form. */
export interface PasswordScheme {
  understands(stored: string): boolean
  /** False for a wrong password and for stored parameters outside the scheme's bounds. Runs off the event loop. */
  verify(password: string, stored: string): Promise<boolean>
  /** True when the password should be stored anew at the next login (D5.1). */
  outdated(stored: string): boolean
}
