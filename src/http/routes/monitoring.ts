import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireAdmin } from '../../accounts/caller.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

/** For programs that watch over the service: is it alive, should it get requests, what does it count. */
export const monitoringRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/management/health', handle: getHealth(), ignoresCaller: true },
  { method: 'GET', url: '/management/ready', handle: getReady(deps), ignoresCaller: true },
  { method: 'GET', url: '/management/metrics', handle: getMetrics(deps) },
]

/** The process answers; nothing beneath it is asked, since a restart would not mend that. */
const getHealth = () => async () => ({ status: 'up' })

const getReady = (deps: Services) => async (_request: FastifyRequest, reply: FastifyReply) => {
  const { isReady, checks } = await deps.readiness.check()
  return await reply.status(isReady ? 200 : 503).send({ ready: isReady, checks })
}

/** For administrators, and for whoever shows the token of `service.metrics.token`. */
const getMetrics = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  if (!bears(request, deps.options.metricsToken)) requireAdmin(request.caller, 'read the metrics')
  return await reply.type(deps.metrics.contentType).send(await deps.metrics.render())
}

function bears({ headers }: FastifyRequest, token: string | undefined): boolean {
  const [, given] = /^Bearer +([^ ]+) *$/i.exec(headers.authorization ?? '') ?? []
  // Digests have one length, so that the comparison tells nothing about the token's.
  return token !== undefined && given !== undefined && timingSafeEqual(digest(given), digest(token))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
