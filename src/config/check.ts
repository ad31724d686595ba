import type { Key } from './keys.ts'
import type { Settings } from './settings.ts'

/** A contradiction between settings that are right one by one. */
export interface Check {
  /** The settings it is about; they are shown with the message. */
  readonly keys: readonly [Key, ...Key[]]
  /** Worth telling, but no reason not to start. */
  readonly warning?: true
  readonly wrong: (settings: Settings) => boolean
  /** A sentence without a full stop. */
  readonly message: string
}

/** Whether a browser and this host can only be one machine, so that plain http is no danger. `undefined`: the default. */
export function isLoopback(url: string | undefined): boolean {
  if (url === undefined) return true
  const { hostname } = new URL(url)
  return isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))
}

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/** Whether what is sent to the address can be read on the way. */
export function isPlainHttp(url: string | undefined): boolean {
  return url !== undefined && /^http:/i.test(url) && !isLoopback(url)
}
