import { digestOf } from '../token-digest.ts'
import type { System } from '../../base/system.ts'

/** How many codes a user gets at once. */
const RECOVERY_CODES = 10
/** 80 bits, so that no code can be found by trying all of them against a stolen digest. */
const CODE_BYTES = 10
const GROUP = 4
/** Crockford's base 32: no letters that look like digits. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

/** Ten codes as they are shown, such as `8k2m-p0tz-…`. */
export const newRecoveryCodes = (system: System): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => codeText(system.randomBytes(CODE_BYTES)))

function codeText(random: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(random).toString('hex')}`)
  let digits = ''
  for (let count = 0; count < (CODE_BYTES * 8) / 5; count++, rest /= 32n) digits += DIGITS.charAt(Number(rest % 32n))
  return digits.replace(new RegExp(`(.{${GROUP}})(?=.)`, 'g'), '$1-')
}

/** What the store keeps of a code, however the user has typed it. The digests of equal codes of two users differ. */
export function recoveryDigest(userId: string, code: string): string {
  const typed = code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1')
  return digestOf(`${userId}\n${typed}`)
}
