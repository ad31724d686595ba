import { absoluteUrl } from '../../config/address-kinds.ts'
import { type Check, isHttps, isPlainHttp } from '../../config/check.ts'

export const contentOriginSettings = {
  title: 'Origin of active files',
  rows: {
    'service.content.base-url': absoluteUrl({
      sameOnAllNodes: true,
      folder: true,
      help:
        'Second address of this service, with another host, at which browsers show uploaded files with active content (HTML, ' +
        'SVG, XML, PDF). Without it they are downloads. Its proxy must pass on the `Host` header.',
    }),
  },
} as const

export const contradictions: ReadonlyArray<Check<typeof contentOriginSettings.rows>> = [
  {
    // Cookies do not distinguish ports, so another port of the same host is not enough.
    keys: ['service.content.base-url', 'service.baseurl.folder'],
    wrong: settings => {
      const content = settings['service.content.base-url']
      return content !== undefined && hostnameOf(content) === hostnameOf(settings['service.baseurl.folder'])
    },
    message:
      'the content origin needs another host name than the base address, because browsers send cookies to all its ports',
  },
  {
    keys: ['service.content.base-url', 'service.baseurl.folder'],
    wrong: settings =>
      isHttps(settings['service.baseurl.folder']) && settings['service.content.base-url']?.startsWith('http:') === true,
    message:
      'the base address is https, so the content origin must be https as well: files must not travel in plain text',
  },
  {
    keys: ['service.content.base-url'],
    warning: 'content-origin-without-https',
    wrong: settings => isPlainHttp(settings['service.content.base-url']),
    message: 'files and their tickets can be read on the network, because the content origin is not https',
  },
  {
    keys: ['service.content.base-url', 'service.auth.token.store', 'service.repository.store.url'],
    wrong: settings =>
      settings['service.content.base-url'] !== undefined &&
      settings['service.repository.store.url'] !== undefined &&
      settings['service.auth.token.store'] === 'memory',
    message:
      'several nodes with a content origin need a common token key: service.auth.token.store must be redis or database',
  },
]

const hostnameOf = (url = 'http://127.0.0.1/'): string => new URL(url).hostname
