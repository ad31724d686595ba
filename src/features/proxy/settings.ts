import { host } from '../../config/address-kinds.ts'
import type { Check } from '../../config/check.ts'
import { boolean } from '../../config/kinds.ts'

export const proxySettings = {
  title: 'Documents of other servers',
  rows: {
    'service.proxy': boolean({
      default: true,
      help: 'Fetch public documents of other servers for signed-in users (`/proxy`).',
    }),
    'service.proxy.guest-hosts.<n>': host({
      help: 'Hosts from which guests have documents fetched too; without a port, the ports of http and https are meant.',
    }),
    'service.proxy.private-hosts.<n>': host({
      help: 'Hosts that documents are fetched from although their addresses are not public: every user of the proxy can reach them.',
    }),
  },
  removed: {
    'service.proxy.max-size': 'documents have at most 8 MiB',
    'service.proxy.timeout': 'fetching a document may take 20 seconds, redirects included',
  },
} as const

export const contradictions: ReadonlyArray<Check<typeof proxySettings.rows>> = [
  {
    keys: ['service.proxy', 'service.proxy.guest-hosts.<n>', 'service.proxy.private-hosts.<n>'],
    warning: 'proxy-hosts-unused',
    wrong: settings =>
      !settings['service.proxy'] &&
      settings['service.proxy.guest-hosts.<n>'].length + settings['service.proxy.private-hosts.<n>'].length > 0,
    message: 'hosts for the proxy are set, but the proxy is off',
  },
]
