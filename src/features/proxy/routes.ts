import { NotSupported } from '../../base/errors.ts'
import type { EntryReads } from '../../content/entry-reads.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { content, type Exchange, requiredText, route, undescribed } from '../../http/interface/route.ts'
import { anything } from '../../http/interface/schema.ts'
import { clientGoneSignal } from '../../http/protocol/response-end.ts'
import type { Proxy } from './proxy.ts'

interface Services extends HttpServices {
  /** Absent when the proxy is off. */
  readonly proxy: Proxy | undefined
  readonly entries: EntryReads
}

/** The common parts of both routes. */
const proxied = {
  method: 'GET',
  chapter: 'Tools',
  query: {
    url: requiredText('Where the document is: http or https.', {
      example: 'https://example.org/data.ttl',
      keywords: { format: 'uri' },
    }),
  },
  answers: { 200: content('The document, in its own media type.', ['*/*'], anything) },
  refusals: {
    400: ['invalid-uri'],
    401: [],
    403: ['host-refused'],
    404: [],
    501: ['not-available'],
    502: ['upstream-failed'],
    503: ['overloaded'],
    504: ['upstream-silent'],
  },
} as const

const isOn = ({ proxy }: Services): boolean => proxy !== undefined

/** Documents of other servers (W3.15). */
export const proxyRoutes = [
  route({
    ...proxied,
    id: 'fetchDocument',
    url: '/proxy',
    summary: 'Fetch a public document of another server.',
    access: 'signed-in users; guests for the hosts of `service.proxy.guest-hosts.<n>`',
    isOffered: isOn,
    handle: async (deps: Services, { request, reply, query }) => await answer(deps, { request, reply }, query.url),
  }),
  route({
    ...proxied,
    id: 'fetchDocumentForContext',
    url: '/:context/proxy',
    summary: 'Fetch a public document of another server.',
    access: 'callers who may use `/proxy` for the host, and can read the resource of the context',
    isOffered: isOn,
    handle: async (deps: Services, { request, reply, caller, params, query }) => {
      await deps.entries.getContext(caller, params.context, 'readresource', 'read this context')
      return await answer(deps, { request, reply }, query.url)
    },
  }),
  ...(['/proxy', '/:context/proxy'] as const).map(url =>
    undescribed({
      method: 'GET',
      url,
      isOffered: (deps: Services) => !isOn(deps),
      handle: () =>
        Promise.reject(new NotSupported('not-available', 'The proxy is switched off: `service.proxy=off`.')),
    }),
  ),
]

/** A browser must not treat the document as part of this service, whatever its type. */
const sandboxed = {
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'content-disposition': 'attachment',
  'cross-origin-resource-policy': 'same-origin',
}

async function answer(
  { proxy }: Services,
  { request, reply }: Pick<Exchange, 'request' | 'reply'>,
  url: string,
): Promise<unknown> {
  if (!proxy) throw new TypeError('the proxy is off')
  const { accept } = request.headers
  const { type, bytes } = await proxy.fetch(request.caller, { url, accept, signal: clientGoneSignal(reply) })
  return await reply.headers({ ...sandboxed, 'content-type': type }).send(bytes)
}
