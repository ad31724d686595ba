import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, NotSupported } from '../../base/errors.ts'
import { requireRight } from '../../model/rights.ts'
import type { Proxy } from '../../proxy/proxy.ts'
import { clientGoneSignal } from '../client-gone-signal.ts'
import { pathPart, type Route } from '../route.ts'
import type { Services } from '../services.ts'

/** Documents of other servers (wire facts 3.15). */
export function proxyRoutes(deps: Services): Route[] {
  const { proxy } = deps
  if (!proxy) {
    const handle = (): Promise<never> =>
      Promise.reject(new NotSupported('not-available', 'Nothing is fetched for others here: `service.proxy=off`.'))
    return ['/proxy', '/:context/proxy'].map(url => ({ method: 'GET', url, handle, onlyRefuses: true }))
  }
  const getInContext = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const placed = await deps.entries.getContextEntry(pathPart(request, 'context'))
    requireRight(request.caller, 'readresource', placed, 'read this context')
    return await answer(proxy, request, reply)
  }
  return [
    { method: 'GET', url: '/proxy', handle: async (request, reply) => await answer(proxy, request, reply) },
    { method: 'GET', url: '/:context/proxy', handle: getInContext },
  ]
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
  const { type, bytes } = await proxy.fetch(request.caller, { url, accept, signal: clientGoneSignal(reply) })
  return await reply.headers({ ...sandboxed, 'content-type': type }).send(bytes)
}
