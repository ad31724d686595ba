import { feature, offer } from '../../core/feature.ts'
import { Proxy } from './proxy.ts'
import { proxyRoutes } from './routes.ts'
import { contradictions, proxySettings } from './settings.ts'

/** Opened even while it is off, because its addresses then say that it is off. */
export const proxy = feature({
  name: 'proxy',
  settings: proxySettings,
  contradictions,
  routes: proxyRoutes,
  open: ({ settings, entries, version }) => {
    const proxy = settings['service.proxy']
      ? new Proxy({
          hosts: {
            forGuests: settings['service.proxy.guest-hosts.<n>'],
            private: settings['service.proxy.private-hosts.<n>'],
          },
          userAgent: `Stowage/${version}`,
        })
      : undefined
    return { offers: offer({ proxy, entries }, proxyRoutes) }
  },
})
