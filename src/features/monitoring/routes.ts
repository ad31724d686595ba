import { createHash, timingSafeEqual } from 'node:crypto'
import type { SettingsOf } from '../../config/settings.ts'
import { requireAdmin } from '../../accounts/caller-guards.ts'
import { content, type Exchange, json, route } from '../../http/interface/route.ts'
import { flag, mapOf, named, object, oneOf, text, anyOf, list, nothing } from '../../http/interface/schema.ts'
import { count, time } from '../../http/interface/shared-schemas.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Metrics } from '../../http/metrics.ts'
import { type History as HistoryOfFigures, INTERVAL } from './history.ts'
import type { Readiness as ReadinessOfProcess } from './readiness.ts'
import type { monitoringSettings } from './settings.ts'
import { isoTime } from '../../base/times.ts'

const Readiness = named('Readiness', object({ ready: flag, checks: mapOf(oneOf('up', 'down')) }))

interface Services extends HttpServices {
  readonly history: HistoryOfFigures
  readonly metrics: Metrics
  readonly readiness: ReadinessOfProcess
  readonly settings: SettingsOf<typeof monitoringSettings.rows>
}

const chapter = 'Status and administration'

/** The process answers. The stores are not checked, because a restart would not repair them. */
const health = (id: string, url: '/management/health' | '/healthz') =>
  route({
    id,
    method: 'GET',
    url,
    chapter,
    summary: 'Check that the process answers.',
    answers: { 200: json('The process answers.', object({ status: oneOf('up') })) },
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
      200: json('The process is ready.', Readiness),
      503: json('The process is not ready: something that it depends on is down, or it is about to stop.', Readiness),
    },
    skipAuth: true,
    handle: async ({ readiness }: Services, { reply }) => {
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
    readsBearerToken: true,
    handle: async ({ metrics, settings }: Services, { request, reply, caller }) => {
      if (!hasToken(request, settings['service.metrics.token'])) requireAdmin(caller, 'read the metrics')
      return await reply.type(metrics.contentType).send(await metrics.render())
    },
  }),
]

function hasToken({ headers }: Exchange['request'], token: string | undefined): boolean {
  const [, given] = /^Bearer +([^ ]+) *$/i.exec(headers.authorization ?? '') ?? []
  // All digests have the same length, so the time of the comparison reveals nothing.
  return token !== undefined && given !== undefined && timingSafeEqual(digest(given), digest(token))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

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

/** For people without a monitoring system. */
export const historyRoutes = [
  route({
    id: 'readHistory',
    method: 'GET',
    url: '/management/history',
    chapter,
    summary: 'Read requests, sign-ins and storage of the last day.',
    details:
      '`points` has one point for each interval of `interval` seconds since the start of this process; the last point is for the interval in ' +
      'progress. `contexts` has the five fullest contexts with their bytes at each point, or `null` if a context was not among the ten fullest then.',
    requires: { role: 'admin', to: 'see the history of the service' },
    answers: { 200: json('The history.', History) },
    handle: async ({ history }: Services) => {
      const { points, contexts } = await history.report()
      return {
        interval: INTERVAL / 1000,
        points: points.map(point => ({ ...point, time: isoTime(point.time) })),
        contexts: contexts.map(({ context, bytes }) => ({ context, bytes: [...bytes] })),
      }
    },
  }),
]
