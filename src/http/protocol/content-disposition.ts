import { create } from 'content-disposition'

/**
 * A `Content-Disposition` header for a name that a user chose (RFC 6266). Control characters are removed,
 * because `filename*` would deliver them percent-encoded to clients that write them to disks or logs.
 * Characters that change the direction of text are removed too, because they can make `gpj.exe` look like
 * `exe.jpg`.
 */
export const contentDisposition = (name: string, type: 'inline' | 'attachment' = 'attachment'): string =>
  create(name.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '') || 'file', { type })
