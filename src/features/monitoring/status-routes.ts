import { availableParallelism, loadavg } from 'node:os'
import { requireAdmin } from '../../accounts/caller-guards.ts'
import { isoTime } from '../../base/times.ts'
import type { Settings } from '../../config/settings.ts'
import { countStore } from '../../content/context-list.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { flagParameter, route } from '../../http/interface/route.ts'
import { named, openObject, optional, text } from '../../http/interface/schema.ts'
import { time, uri } from '../../http/interface/shared-schemas.ts'
import { PREFLIGHT_TTL } from '../../http/protocol/cors.ts'
import { preferenceAmong } from '../../http/protocol/negotiate.ts'
import type { Database } from '../../stores/database.ts'

interface Services extends HttpServices {
  readonly database: Database
  readonly ledger: Ledger
  readonly settings: Pick<Settings, 'service.repository.store.url'>
  /** What features add to the extended status. */
  readonly status: () => Promise<Readonly<Record<string, unknown>>>
}

const Status = named(
  'Status',
  openObject({
    version: text(),
    commit: optional(text()),
    repositoryStatus: text(),
    repositoryType: optional(text()),
    baseURI: optional(uri),
    startupTime: optional(time),
  }),
)

const preferredForm = preferenceAmong(['text/plain', 'application/json'])

export const statusRoutes = [
  route({
    id: 'readStatus',
    method: 'GET',
    url: '/management/status',
    chapter: 'Status and administration',
    summary: 'Read version and state.',
    details: 'Without `extended` the answer is the text `UP`, unless the request prefers JSON.',
    query: {
      extended: flagParameter(
        'For administrators: with settings, base address, start, memory and the last scheduled backup.',
      ),
      includeStats: flagParameter('With `extended`: how much the store holds.'),
    },
    answers: {
      200: { description: 'The state.', content: { types: ['application/json', 'text/plain'], schema: Status } },
    },
    refusals: { 401: [], 403: [] },
    handle: async (
      { base, database, ledger, options, startedAt, status, settings }: Services,
      { request, reply, caller, query },
    ) => {
      const { version, commit, cors } = options
      if (query.extended) {
        requireAdmin(caller, 'see the extended status')
        const stats = query.includeStats ? { stats: await countStore(database) } : {}
        return {
          ...brief(version),
          ...(commit === undefined ? {} : { commit }),
          repositoryType: settings['service.repository.store.url'] === undefined ? 'sqlite' : 'postgres',
          baseURI: base.href,
          startupTime: isoTime(startedAt),
          quota: ledger.enforced,
          cors: { enabled: cors.enabled, origins: cors.origins, maxAge: PREFLIGHT_TTL },
          // Clients know the engine by this name. An entry is indexed in the transaction that changes it, so
          // nothing waits.
          solr: { enabled: true, status: 'online', postQueueSize: 0 },
          ...(await status()),
          ...runtime(),
          ...stats,
        }
      }
      const isJson = request.callback !== undefined || preferredForm(request) === 'application/json'
      if (isJson) return brief(version)
      return await reply.type('text/plain; charset=utf-8').send('UP')
    },
  }),
]

const brief = (version: string) => ({ version, repositoryStatus: 'online' })

/** Numbers of the running process: bytes, seconds, and the load of the machine over one minute. */
function runtime() {
  const { rss, heapUsed, heapTotal } = process.memoryUsage()
  const [load = 0] = loadavg()
  return {
    process: {
      node: process.version,
      pid: process.pid,
      rss,
      heapUsed,
      heapTotal,
      uptime: Math.round(process.uptime()),
      cpus: availableParallelism(),
      load: Math.round(load * 100) / 100,
    },
  }
}
