import { findMessage, t } from './language.ts'

/** Checks that share the explanation of another check. */
const alike: Readonly<Record<string, string>> = {
  'account-disabled': 'account',
  'assertion-id': 'profile',
  'authn-statement': 'profile',
  'in-response-to': 'relay-state',
  'login-flow': 'relay-state',
  'not-before': 'clock',
  'not-yet-valid': 'clock',
  'reserved-user': 'account',
  'session-expired': 'clock',
  'signature-key': 'signature',
  'signature-transform': 'signature-algorithm',
  'subject-confirmation': 'profile',
  conditions: 'profile',
  expired: 'clock',
  name: 'account',
  recipient: 'destination',
  subject: 'profile',
}

/** The usual cause of a refused sign-on, and what to do about it. */
export const explainCheck = (check: string): string =>
  findMessage(`check.${alike[check] ?? check}`) ?? t('check.dishonest')
