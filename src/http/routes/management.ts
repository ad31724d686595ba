import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { requireAdmin } from '../../accounts/caller.ts'
import { sql } from '../../stores/sql.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

/** How the service is doing (wire facts 3.14). */
export const managementRoutes = (on: Services): Route[] => [
  { method: 'GET', url: '/management/status', handle: getStatus(on) },
]

const getStatus = (on: Services) => {
  const startupTime = new Date(on.system.now()).toISOString()
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { version } = on.options
    if (request.parameters.has('extended')) {
      requireAdmin(request.caller, 'see the extended status')
      const stats = request.parameters.has('includeStats') ? { stats: await countAll(on) } : {}
      return { ...brief(version), baseURI: on.base.href, startupTime, quota: on.ledger.enforced, ...memory(), ...stats }
    }
    const prefersText = new Negotiator(request.raw).mediaTypes(['application/json', 'text/plain'])[0] === 'text/plain'
    return prefersText ? await reply.type('text/plain; charset=utf-8').send('UP') : brief(version)
  }
}

const brief = (version: string) => ({ version, repositoryStatus: 'online' })

function memory() {
  const { rss, heapUsed } = process.memoryUsage()
  return { process: { node: process.version, rss, heapUsed, uptime: Math.round(process.uptime()) } }
}

async function countAll({ database }: Services) {
  const counts = await database.get<Record<string, number>>(sql`SELECT
    (SELECT COUNT(*) FROM contexts) AS "contextCount",
    (SELECT COUNT(*) FROM principals WHERE kind = 'group') AS "groupCount",
    (SELECT COUNT(*) FROM principals WHERE kind = 'user') AS "userCount",
    (SELECT COUNT(*) FROM entries) AS "entryCount",
    (SELECT COUNT(*) FROM files) AS "fileCount",
    (SELECT COALESCE(SUM(used), 0) FROM spaces) AS "fileBytes"`)
  return { ...counts }
}
