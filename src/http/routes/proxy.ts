import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotSupported } from '../../base/errors.ts'
import { clientGoneSignal } from '../protocol/body.ts'
import { content, requiredText, route, undescribed } from '../interface/route.ts'
import { anything } from '../interface/schema.ts'
import type { Uses } from '../services.ts'

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

const isOn = ({ proxy }: Uses<'proxy'>): boolean => proxy !== undefined

/** Documents of other servers (W3.15). */
export const proxyRoutes = [
  route({
    ...proxied,
    id: 'fetchDocument',
    url: '/proxy',
    summary: 'Fetch a public document of another server.',
    access: 'signed-in users; guests for the hosts of `service.proxy.guest-hosts.<n>`',
    isOffered: isOn,
    handle: async (deps: Uses<'proxy'>, { request, reply, query }) => await answer(deps, request, reply, query.url),
  }),
  route({
    ...proxied,
    id: 'fetchDocumentForContext',
    url: '/:context/proxy',
    summary: 'Fetch a public document of another server.',
    access: 'as above, and callers who can read the resource of the context',
    isOffered: isOn,
    handle: async (deps: Uses<'entries' | 'proxy'>, { request, reply, caller, params, query }) => {
      await deps.entries.getContext(caller, params.context, 'readresource', 'read this context')
      return await answer(deps, request, reply, query.url)
    },
  }),
  ...(['/proxy', '/:context/proxy'] as const).map(url =>
    undescribed({
      method: 'GET',
      url,
      isOffered: (deps: Uses<'proxy'>) => !isOn(deps),
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
  { proxy }: Uses<'proxy'>,
  request: FastifyRequest,
  reply: FastifyReply,
  url: string,
): Promise<unknown> {
  if (!proxy) throw new TypeError('the proxy is off')
  const { accept } = request.headers
  const { type, bytes } = await proxy.fetch(request.caller, { url, accept, signal: clientGoneSignal(reply) })
  return await reply.headers({ ...sandboxed, 'content-type': type }).send(bytes)
}
