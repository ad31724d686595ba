import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { requireAdmin } from '../../accounts/caller.ts'
import { content, json, route } from '../interface/route.ts'
import { flag, mapOf, named, object, oneOf, text } from '../interface/schema.ts'
import type { Uses } from '../services.ts'

const Readiness = named('Readiness', object({ ready: flag, checks: mapOf(oneOf('up', 'down')) }))

/** For monitoring programs: health, readiness and metrics. */
export const monitoringRoutes = [
  route({
    id: 'readHealth',
    method: 'GET',
    url: '/management/health',
    chapter: 'Status and administration',
    summary: 'Check that the process answers.',
    // The stores are not checked, because a restart would not repair them.
    answers: { 200: json('It does.', object({ status: oneOf('up') })) },
    skipAuth: true,
    handle: async () => ({ status: 'up' }),
  }),
  route({
    id: 'readReadiness',
    method: 'GET',
    url: '/management/ready',
    chapter: 'Status and administration',
    summary: 'Check whether this process should get requests.',
    answers: {
      200: json('It should.', Readiness),
      503: json('It should not: something that it depends on is down, or it is about to stop.', Readiness),
    },
    skipAuth: true,
    handle: async ({ readiness }: Uses<'readiness'>, { reply }) => {
      const { isReady, checks } = await readiness.check()
      return await reply.status(isReady ? 200 : 503).send({ ready: isReady, checks })
    },
  }),
  route({
    id: 'readMetrics',
    method: 'GET',
    url: '/management/metrics',
    chapter: 'Status and administration',
    summary: 'Read the metrics for Prometheus.',
    access: 'administrators, and with `Authorization: Bearer` for the token of `service.metrics.token`',
    answers: { 200: content('The metrics.', ['text/plain'], text()) },
    refusals: { 401: [], 403: [] },
    handle: async ({ metrics, options }: Uses<'metrics' | 'options'>, { request, reply, caller }) => {
      if (!hasToken(request, options.metricsToken)) requireAdmin(caller, 'read the metrics')
      return await reply.type(metrics.contentType).send(await metrics.render())
    },
  }),
]

function hasToken({ headers }: FastifyRequest, token: string | undefined): boolean {
  const [, given] = /^Bearer +([^ ]+) *$/i.exec(headers.authorization ?? '') ?? []
  // All digests have the same length, so the time of the comparison reveals nothing.
  return token !== undefined && given !== undefined && timingSafeEqual(digest(given), digest(token))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
