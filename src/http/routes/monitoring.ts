import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { requireAdmin } from '../../accounts/caller.ts'
import { content, json, route } from '../interface/route.ts'
import { flag, mapOf, named, object, oneOf, text, anyOf, list, nothing } from '../interface/schema.ts'
import type { Uses } from '../services.ts'
import { count, time } from '../interface/schemas.ts'
import { INTERVAL } from '../history.ts'
import { isoTime } from '../../base/times.ts'

const Readiness = named('Readiness', object({ ready: flag, checks: mapOf(oneOf('up', 'down')) }))

const chapter = 'Status and administration'

/** The process answers. The stores are not checked, because a restart would not repair them. */
const health = (id: string, url: '/management/health' | '/healthz') =>
  route({
    id,
    method: 'GET',
    url,
    chapter,
    summary: 'Check that the process answers.',
    answers: { 200: json('It does.', object({ status: oneOf('up') })) },
    skipAuth: true,
    handle: async () => ({ status: 'up' }),
  })

const readiness = (id: string, url: '/management/ready' | '/readyz') =>
  route({
    id,
    method: 'GET',
    url,
    chapter,
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
  })

/** For monitoring programs: health and readiness, also under the names that orchestrators use, and metrics. */
export const monitoringRoutes = [
  health('readHealth', '/management/health'),
  health('readHealthz', '/healthz'),
  readiness('readReadiness', '/management/ready'),
  readiness('readReadyz', '/readyz'),
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

const Settings = named(
  'Settings',
  object({
    settings: list(
      object({
        key: text(),
        value: text(),
        isSet: flag,
        origin: oneOf('default', 'file', 'environment', '--set', 'secret file'),
        area: text(),
        meaning: text(),
      }),
    ),
  }),
)

const Findings = named(
  'Findings',
  object({ findings: list(object({ level: oneOf('ok', 'warning', 'problem'), text: text() })) }),
)

const History = named(
  'History',
  object({
    interval: count,
    points: list(
      object({
        time,
        requests: count,
        failures: count,
        signIns: count,
        refusedSignIns: count,
        storedBytes: count,
      }),
    ),
    contexts: list(object({ context: text(), bytes: list(anyOf(count, nothing)) })),
  }),
)

/** Settings, findings and history of the service, for administrators without access to its host. */
export const insightRoutes = [
  route({
    id: 'listSettings',
    method: 'GET',
    url: '/management/settings',
    chapter,
    summary: 'List the settings in effect, where each comes from, and what it means.',
    details: 'Secrets are masked. `area` and `meaning` are heading and meaning in docs/configuration.md.',
    requires: { role: 'admin', to: 'see the settings' },
    answers: { 200: json('The settings.', Settings) },
    handle: async ({ insight }: Uses<'insight'>) => ({ settings: [...insight.settings()] }),
  }),
  route({
    id: 'listFindings',
    method: 'GET',
    url: '/management/findings',
    chapter,
    summary: 'Check addresses, disk, engines, keys, other nodes and identity providers.',
    details: 'It is what `stowage doctor` finds, seen from this process. It can take seconds.',
    requires: { role: 'admin', to: 'examine the service' },
    answers: { 200: json('The findings.', Findings) },
    handle: async ({ insight }: Uses<'insight'>) => ({ findings: [...(await insight.runChecks())] }),
  }),
  route({
    id: 'readHistory',
    method: 'GET',
    url: '/management/history',
    chapter,
    summary: 'Read requests, sign-ins and storage of the last day.',
    details:
      'One point for each interval of `interval` seconds that this process has been running, the last one for the interval in ' +
      'progress. `contexts` are the five fullest, with their bytes at each point, `null` where they were not among the ten fullest.',
    requires: { role: 'admin', to: 'see the history of the service' },
    answers: { 200: json('The history.', History) },
    handle: async ({ history }: Uses<'history'>) => {
      const { points, contexts } = await history.report()
      return {
        interval: INTERVAL / 1000,
        points: points.map(point => ({ ...point, time: isoTime(point.time) })),
        contexts: contexts.map(({ context, bytes }) => ({ context, bytes: [...bytes] })),
      }
    },
  }),
]
