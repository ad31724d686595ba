import { BASIC_PREFIX, MAX_BASIC } from '../accounts/basic-credentials.ts'
import { UNKNOWN_NAME_PREFIX } from '../accounts/lockout.ts'
import { PENDING_PREFIX } from '../accounts/pending-logins.ts'
import { features } from '../features/features.ts'
import type { Capacity } from '../stores/ephemeral-store.ts'

/** Limits for data that unknown callers can cause. */
export const capacity: readonly Capacity[] = [
  // Counts of wrong passwords for unknown names. Displacing a count by guessing more names takes an attacker hours.
  { prefix: UNKNOWN_NAME_PREFIX, max: 100_000 },
  { prefix: BASIC_PREFIX, max: MAX_BASIC },
  // Each needs the right password, or a sign-on at a provider.
  { prefix: PENDING_PREFIX, max: 100_000 },
  ...features.flatMap(({ capacity }) => capacity),
]
