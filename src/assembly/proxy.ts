import type { Settings } from '../config/settings.ts'
import { Proxy } from '../proxy/proxy.ts'
import type { Machine } from './machine.ts'

/** `undefined` when the proxy is off. */
export function createProxy(settings: Settings, { version }: Machine): Proxy | undefined {
  if (!settings['service.proxy']) return undefined
  const options = {
    hosts: {
      forGuests: settings['service.proxy.guest-hosts.<n>'],
      private: settings['service.proxy.private-hosts.<n>'],
    },
    maxBytes: settings['service.proxy.max-size'],
    timeout: settings['service.proxy.timeout'],
    userAgent: `Stowage/${version}`,
  }
  return new Proxy(options)
}
