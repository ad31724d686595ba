import type { Key } from './keys.ts'
import type { Settings } from './settings.ts'

/** A contradiction between settings that are each valid. */
export interface Check {
  /** The settings concerned; they are shown with the message. */
  readonly keys: readonly [Key, ...Key[]]
  /** Logged as a warning; the service still starts. */
  readonly warning?: true
  /** @param isWritten whether the key is set, be it to its default */
  readonly wrong: (settings: Settings, isWritten: (key: Key) => boolean) => boolean
  /** A sentence without a full stop. */
  readonly message: string
}

/** Whether a browser must run on the same machine as the service, so that plain http is safe. `undefined`: the default. */
function isLoopback(url: string | undefined): boolean {
  if (url === undefined) return true
  const { hostname } = new URL(url)
  return isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))
}

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/** Whether data sent to the address can be read in transit. */
export function isPlainHttp(url: string | undefined): boolean {
  return url !== undefined && /^http:/i.test(url) && !isLoopback(url)
}
