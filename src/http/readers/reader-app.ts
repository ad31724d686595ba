import Fastify from 'fastify'
import type { Caller } from '../../accounts/caller.ts'
import { plainRefusal } from '../../workers/refusals.ts'
import type { RouteDefinition } from '../interface/route.ts'
import { Parameters } from '../protocol/query.ts'
import { archiveRoutes } from '../routes/archives.ts'
import { entryRoutes } from '../routes/entries.ts'
import { listRoutes } from '../routes/lists.ts'
import { lookupRoutes } from '../routes/lookup.ts'
import { metadataRoutes } from '../routes/metadata.ts'
import { resourceRoutes } from '../routes/resources.ts'
import { searchRoutes } from '../routes/search.ts'
import { toolRoutes } from '../routes/tools.ts'
import type { Rooms, Services } from '../services.ts'
import { heavyReads } from './heavy-reads.ts'
import type { ReadAnswer, ReadTask } from './read-task.ts'

/** The services that the routes of `heavy-reads.ts` use. */
export type ReaderRooms = Pick<
  Rooms,
  'database' | 'entries' | 'views' | 'metadata' | 'resources' | 'search' | 'statistics' | 'ledger' | 'system'
>

/** Only some of the routes, because a thread needs memory for each module that it loads. */
const routes: readonly RouteDefinition<Services>[] = [
  ...searchRoutes,
  ...lookupRoutes,
  ...archiveRoutes,
  ...entryRoutes,
  ...metadataRoutes,
  ...resourceRoutes,
  ...listRoutes,
  ...toolRoutes,
]

/** Set by the thread that received the request, which keeps its own values. */
const notPassedOn = new Set(['content-length', 'connection', 'date', 'transfer-encoding', 'keep-alive'])

/** Answers heavy reads, one after another. */
export function createReaderApp(
  rooms: ReaderRooms,
  options: Pick<Services, 'base' | 'options'>,
): (task: ReadTask) => Promise<ReadAnswer> {
  // Only GET routes run here, and they use none of the missing services.
  const deps = { ...rooms, ...options } as unknown as Services
  const app = Fastify({
    logger: false,
    routerOptions: { querystringParser: text => ({ text }), maxParamLength: 1024, caseSensitive: true },
    exposeHeadRoutes: false,
  })
  let caller: Caller | undefined
  let failure: unknown
  app.decorateRequest('caller', undefined as never)
  app.decorateRequest('parameters', undefined as never)
  app.decorateRequest('callback', undefined)
  app.addHook('onRequest', async request => {
    if (!caller) throw new Error('the read request has no caller')
    request.caller = caller
    request.parameters = Parameters.parse((request.query as { readonly text?: string }).text ?? '', 'invalid-query')
  })
  app.setErrorHandler(async (error, _request, reply) => {
    failure = error
    return await reply.status(500).send('')
  })
  for (const definition of routes) {
    const { method, url } = definition
    const route = method === 'GET' && Object.hasOwn(heavyReads, url) ? definition.bind(deps) : undefined
    if (route) app.route({ method: 'GET', url, handler: route.handle })
  }
  return async task => {
    caller = task.caller
    failure = undefined
    const { url, headers } = task
    const answer = await app.inject({ method: 'GET', url, headers })
    if (failure !== undefined) {
      const refused = plainRefusal(failure)
      if (!refused) throw failure
      return { refused }
    }
    const passedOn = Object.entries(answer.headers).filter(([name]) => !notPassedOn.has(name))
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(passedOn.map(([name, value]) => [name, String(value)])),
      body: answer.payload,
    }
  }
}
