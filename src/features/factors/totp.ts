import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Milliseconds, Seconds } from '../../base/units.ts'

/** What every authenticator app supports: SHA-1, six digits, a new code every 30 seconds. */
const DIGITS = 6
const STEP: Seconds = 30
/** Maximum clock error in steps, in either direction (RFC 6238 5.2). */
const TOLERANCE = 1
/** As long as the output of the hash (RFC 4226 4, R6). */
export const TOTP_SECRET_BYTES = 20

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The number of the step that a time lies in (RFC 6238 4.2). */
export const stepAt = (time: Milliseconds): number => Math.floor(time / 1000 / STEP)

/** One code (RFC 4226 5.3). */
export function hotp(secret: Uint8Array, counter: number, digits = DIGITS): string {
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(counter))
  const mac = createHmac('sha1', secret).update(message).digest()
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const truncated = mac.readUInt32BE(offset) & 0x7fff_ffff
  return String(truncated % 10 ** digits).padStart(digits, '0')
}

/** Whether a text has the form of a code. */
export const looksLikeCode = (text: string): boolean => /^\d{6}$/.test(text)

/**
 * The step to which the code belongs, among the present step and its neighbours; `undefined` if none of those after `after` matches. Every
 * candidate is compared in constant time, so that the time reveals nothing about the code.
 * @param after the step of the last accepted code: each code is accepted once (RFC 6238 5.2)
 */
export function matchingStep(secret: Uint8Array, code: string, now: Milliseconds, after: number): number | undefined {
  const given = Buffer.from(code)
  const present = stepAt(now)
  let found: number | undefined
  for (let step = present - TOLERANCE; step <= present + TOLERANCE; step++) {
    const expected = Buffer.from(hotp(secret, step))
    const isEqual = given.length === expected.length && timingSafeEqual(given, expected)
    if (isEqual && step > after) found ??= step
  }
  return found
}

/** RFC 4648 6, without padding, as apps read it. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, byte => byte.toString(2).padStart(8, '0')).join('')
  return bits.replace(/.{1,5}/g, five => BASE32.charAt(Number.parseInt(five.padEnd(5, '0'), 2)))
}

/** The address that apps read from a QR code (the Key URI Format of Google Authenticator). */
export function otpauthUri(
  secret: string,
  { issuer, account }: { readonly issuer: string; readonly account: string },
): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const query = `secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${DIGITS}&period=${STEP}`
  return `otpauth://totp/${label}?${query}`
}
