import { create } from 'content-disposition'

/**
 * A `Content-Disposition` for a name that a user chose (RFC 6266). Control characters are left out: `filename*` would carry
 * them percent-encoded to a client that writes them to its disk or its log. Characters that change the direction of text are
 * left out as well: they can make `gpj.exe` look like `exe.jpg`.
 */
export const contentDisposition = (name: string, type: 'inline' | 'attachment' = 'attachment'): string =>
  create(name.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '') || 'file', { type })
