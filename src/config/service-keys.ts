import { absoluteUrl, cidr, origin } from './address-kinds.ts'
import { boolean, bytes, choice, duration, integer, MAX_TIMER, text } from './kinds.ts'

/** Where the service is reached, and what it accepts from the network (D1). */
export const addressKeys = {
  'service.baseurl.folder': absoluteUrl({
    sameOnAllNodes: true,
    folder: true,
    defaultText: '`http://127.0.0.1:<port>/`',
    help: 'Base address as clients see it; every URI in a response begins with it. A slash is added to its end.',
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
    help: 'Reverse proxies whose `X-Forwarded-For` is trusted. The `X-Forwarded-For` of other peers, and every `Forwarded`, is ignored.',
  }),
  'service.http.body.idle-timeout': duration({
    min: 1,
    max: MAX_TIMER,
    default: 30_000,
    help:
      'How long a request body may pause before the request is given up, and how long a client may take nothing of a ' +
      'response before its connection is closed.',
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
  'service.jsonp': boolean({
    default: true,
    help: 'Let pages of every origin load what a guest may read as a script (`callback=`), as the client of EntryStore does. Turn it off where only a network protects what guests may read.',
  }),
} as const

export const operationKeys = {
  'service.log.level': choice(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
    live: true,
    default: 'info',
    help: 'Least severe messages that are logged.',
  }),
  'service.http.drain-time': duration({
    min: 0,
    max: 600_000,
    default: 0,
    help: 'How long the service continues to serve after SIGTERM while `/management/ready` returns 503.',
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
