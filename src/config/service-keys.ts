import { absoluteUrl, cidr, host, origin } from './address-kinds.ts'
import { boolean, bytes, choice, duration, integer, seconds, secret, text } from './kinds.ts'

/** The maximum delay of a Node timer; a longer one would fire at once. */
const MAX_TIMER = 2 ** 31 - 1

/** Where the service is reached, and what it accepts from the network (D1). */
export const addressKeys = {
  'service.baseurl.folder': absoluteUrl({
    sameOnAllNodes: true,
    folder: true,
    defaultText: '`http://127.0.0.1:<port>/`',
    help: 'Base address as clients see it; every URI in a response begins with it. A slash is added to its end.',
  }),
  'service.content.base-url': absoluteUrl({
    sameOnAllNodes: true,
    folder: true,
    help:
      'Second address of this service, with another host, at which browsers show uploaded files with active content (HTML, ' +
      'SVG, XML, PDF). Without it they are downloads. Its proxy must pass on the `Host` header.',
  }),
  'service.http.csp-report-url': absoluteUrl({
    help: 'Address to which browsers report what the content security policy has stopped, for instance a script in a page.',
  }),
  'service.http.host': text({
    default: '127.0.0.1',
    expects: 'an IP address or host name',
    matches: /^[^\s/]+$/,
    help: 'Address to listen on; `0.0.0.0` or `::` for all, `localhost` for both loopback addresses.',
  }),
  'service.http.port': integer({
    min: 0,
    max: 65535,
    default: 8080,
    help: 'Port to listen on; 0 lets the system choose.',
  }),
  'service.http.trusted-proxies.<n>': cidr({
    help: 'Reverse proxies whose `service.http.client-address-header` is trusted; from other peers it is ignored.',
  }),
  'service.http.client-address-header': choice(['x-forwarded-for', 'forwarded'], {
    default: 'x-forwarded-for',
    help: 'The one header in which trusted proxies pass on the address of the client. The other is ignored, because a proxy may pass on what a client wrote there.',
  }),
  'service.http.body.idle-timeout': duration({
    min: 1,
    max: MAX_TIMER,
    default: 30_000,
    help:
      'How long a request body may pause before the request is given up, and how long a client may take nothing of a ' +
      'response before its connection is closed.',
  }),
  'service.http.body.minimum-rate': integer({
    min: 0,
    default: 512,
    help: 'Slowest rate, in bytes per second, at which a request body may come; 0 accepts any.',
  }),
  'service.http.json.max-size': bytes({
    min: 1024,
    max: 2 ** 28,
    default: 8 * 2 ** 20,
    help: 'Largest JSON or RDF body, and largest graph that a body may stand for.',
  }),
} as const

/** Access from pages of other sites. */
export const corsKeys = {
  'service.cors': boolean({ default: false, help: 'Answer requests of pages of other origins.' }),
  'service.cors.origins.<n>': origin({
    help: 'Origins that may send requests with cookies; `*` lets all others read what a guest may read.',
  }),
  'service.cors.max-age': seconds({
    min: 0,
    max: 86_400,
    default: 7200,
    help: 'How long a browser may cache the response to a preflight request.',
  }),
  'service.jsonp': boolean({
    default: false,
    warn: 'is on: pages of all sites can load what guests may read as a script',
    help: 'Let pages of every origin load what a guest may read as a script (`callback=`), for old browsers.',
  }),
} as const

/** The proxy for documents of other servers. */
export const proxyKeys = {
  'service.proxy': boolean({
    default: true,
    help: 'Fetch public documents of other servers for signed-in users (`/proxy`).',
  }),
  'service.proxy.guest-hosts.<n>': host({
    help: 'Hosts from which guests have documents fetched too; without a port those of http and https are meant.',
  }),
  'service.proxy.private-hosts.<n>': host({
    help: 'Hosts that documents are fetched from although their addresses are not public: every user of the proxy can reach them.',
  }),
  'service.proxy.max-size': bytes({
    min: 1024,
    max: 2 ** 28,
    default: 8 * 2 ** 20,
    help: 'Largest document that is fetched.',
  }),
  'service.proxy.timeout': duration({
    min: 1,
    max: 120_000,
    default: 20_000,
    help: 'How long fetching a document may take, redirects included.',
  }),
} as const

export const operationKeys = {
  'service.audit.retention': duration({
    sameOnAllNodes: true,
    min: 86_400_000,
    default: 365 * 86_400_000,
    help: 'How long events stay in the audit log.',
  }),
  'service.log.level': choice(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
    live: true,
    default: 'info',
    help: 'Least severe messages that are logged.',
  }),
  'service.log.slow': duration({
    live: true,
    min: 0,
    max: MAX_TIMER,
    default: 1000,
    help: 'A request that takes the service this long is logged with what the time was spent on; 0 logs none. Waiting for the client does not count.',
  }),
  'service.http.drain-time': duration({
    min: 0,
    max: 600_000,
    default: 0,
    help: 'How long the service continues to serve after SIGTERM while `/management/ready` returns 503.',
  }),
  'service.metrics.token': secret({
    live: true,
    help: 'A client that sends it as a bearer token may read `/management/metrics`; administrators always may.',
  }),
  'service.cluster.redis.url': absoluteUrl({
    live: 'credentials',
    sameOnAllNodes: true,
    protocols: ['redis', 'rediss'],
    credentials: true,
    help: 'Redis or Valkey, 7 or later, through which several nodes share lockouts, sign-ons in progress and, with `service.auth.token.store=redis`, sessions.',
  }),
  'service.cluster.redis.certificate-file': text({
    live: true,
    expects: 'the path of a file',
    help: 'Certificate (PEM) that the service shows to Redis; requires the key, and `rediss` in the address.',
  }),
  'service.cluster.redis.key-file': text({
    live: true,
    expects: 'the path of a file',
    help: 'Private key (PEM) of that certificate.',
  }),
} as const
