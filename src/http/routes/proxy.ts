import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, NotSupported } from '../../base/errors.ts'
import { requireRight } from '../../content/rights.ts'
import type { Proxy } from '../../proxy/proxy.ts'
import { abandonment } from '../abandonment.ts'
import { pathPart, type Route } from '../route.ts'
import type { Services } from '../services.ts'

/** Documents of other servers (wire facts 3.15). */
export const proxyRoutes = (on: Services): Route[] => [
  { method: 'GET', url: '/proxy', handle: async (request, reply) => await answer(requireProxy(on), request, reply) },
  {
    method: 'GET',
    url: '/:context/proxy',
    handle: async (request, reply) => {
      const proxy = requireProxy(on)
      const placed = await on.entries.getContextEntry(pathPart(request, 'context'))
      requireRight(request.caller, 'readresource', placed, 'read this context')
      return await answer(proxy, request, reply)
    },
  },
]

function requireProxy({ proxy }: Services): Proxy {
  if (proxy) return proxy
  throw new NotSupported('not-available', 'This service fetches nothing for others: `service.proxy=off`.')
}

/** What comes from elsewhere must not act as if it came from here, whatever it is. */
const sandboxed = {
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'content-disposition': 'attachment',
  'cross-origin-resource-policy': 'same-origin',
}

async function answer(proxy: Proxy, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const url = request.parameters.get('url')
  if (url === undefined) throw new InvalidInput('invalid-query', 'The parameter `url` is missing.')
  const { accept } = request.headers
  const { type, bytes } = await proxy.fetch(request.caller, { url, accept, signal: abandonment(reply) })
  return await reply.headers({ ...sandboxed, 'content-type': type }).send(bytes)
}
