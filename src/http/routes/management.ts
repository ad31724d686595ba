import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { type AuditEvent, auditEvents } from '../../accounts/audit.ts'
import { isGuest, requireAdmin } from '../../accounts/caller.ts'
import { normaliseName } from '../../accounts/names.ts'
import { findUser, findUserByName, liftLockout, type User } from '../../accounts/users.ts'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import { countStore } from '../../content/store-counts.ts'
import { prefersHtml } from '../negotiate.ts'
import { readWholeNumber } from '../query.ts'
import type { SamlProvider } from '../../sso/saml/provider.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

/** For administrators: how the service is doing, who is locked out, what has happened (wire facts 3.14, D6.5). */
export const managementRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/', handle: getRoot(deps), visited: true },
  { method: 'GET', url: '/management/status', handle: getStatus(deps) },
  { method: 'GET', url: '/management/lockouts', handle: getLockouts(deps) },
  { method: 'DELETE', url: '/management/lockouts', handle: deleteLockout(deps) },
  { method: 'GET', url: '/management/audit', handle: getAudit(deps) },
  { method: 'GET', url: '/management/sso', handle: getSso(deps) },
]

/** A person is led to the application, or to the sign-in page; a program gets a description of the service. */
const getRoot = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  if (prefersHtml(request))
    return await reply.redirect(deps.base.at(isGuest(request.caller) ? 'auth/login' : 'ui/'), 303)
  return { service: 'Stowage', ...brief(deps.options.version), baseURI: deps.base.href }
}

const getStatus = (deps: Services) => {
  const startupTime = new Date(deps.system.now()).toISOString()
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { version } = deps.options
    if (request.parameters.has('extended')) {
      requireAdmin(request.caller, 'see the extended status')
      const stats = request.parameters.has('includeStats') ? { stats: await countStore(deps.database) } : {}
      const { enabled, origins, maxAge } = deps.options.cors
      return {
        ...brief(version),
        baseURI: deps.base.href,
        startupTime,
        quota: deps.ledger.enforced,
        cors: { enabled, origins, maxAge },
        // What clients call the engine; an entry is indexed in the transaction that changes it, so nothing waits.
        solr: { enabled: true, status: 'online', postQueueSize: 0 },
        ...memory(),
        ...stats,
      }
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

const getLockouts = (deps: Services) => async (request: FastifyRequest) => {
  requireAdmin(request.caller, 'see who is locked out')
  const lockouts = []
  for await (const { userId, unlocks, failures, until } of deps.lockout.lockedUsers()) {
    const user = await findUser(deps.database, userId)
    if (user?.unlocks === unlocks) {
      lockouts.push({ id: userId, user: user.name, failures, lockedUntil: isoTime(until) })
    }
  }
  return { lockouts }
}

/** `?user=NAME`; somebody who is not locked out loses his count of wrong passwords all the same. */
const deleteLockout = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  requireAdmin(request.caller, 'lift a lockout')
  const user = await userNamed(deps, request.parameters.get('user'))
  await liftLockout(deps.database, user.id)
  const { caller } = request
  const subject = { userId: user.id, userName: user.name, actorId: caller.user.id, address: caller.client.address }
  await deps.audit.record({ event: 'unlocked', ...subject })
  return await reply.status(204).send()
}

/** How it stands with the identity providers, and why the latest sign-ons were refused. */
const getSso = (deps: Services) => async (request: FastifyRequest) => {
  requireAdmin(request.caller, 'see the state of single sign-on')
  const { saml, cas, failures } = deps.sso
  return {
    saml: (saml?.providers ?? []).map(({ provider }) => describeSaml(provider, deps.system.now())),
    cas: cas ? { serviceUrl: deps.base.at('auth/cas') } : undefined,
    failures: failures.list().map(failure => ({ ...failure, time: isoTime(failure.time) })),
  }
}

function describeSaml({ name, acsUrl, metadata }: SamlProvider, now: Milliseconds) {
  const { url, loadedAt, metadata: known, problem } = metadata.status
  return {
    name,
    acsUrl,
    metadata: { url, loaded: loadedAt === undefined ? undefined : isoTime(loadedAt), problem },
    entityId: known?.entityId,
    validUntil: known?.validUntil === undefined ? undefined : isoTime(known.validUntil),
    certificates: known?.certificates.map(({ subject, sha256, expires }) => ({
      subject,
      sha256,
      expires: isoTime(expires),
      daysLeft: Math.floor((expires - now) / 86_400_000),
    })),
  }
}

const isoTime = (time: Milliseconds): string => new Date(time).toISOString()

const MAX_EVENTS = 1000

/** `?user=NAME&event=KIND&since=TIME&until=TIME&limit=N&offset=N`, the latest first. */
const getAudit = (deps: Services) => async (request: FastifyRequest) => {
  requireAdmin(request.caller, 'read the audit trail')
  const { parameters } = request
  const limit = readLimit(parameters.get('limit'))
  const since = readTime(parameters.get('since'), 'since')
  const until = readTime(parameters.get('until'), 'until')
  const wanted = parameters.get('user')
  const userId = wanted === undefined ? undefined : await idOf(deps, wanted)
  const event = readEvent(parameters.get('event'))
  const offset = readWholeNumber(parameters, 'offset') ?? 0
  const events = await deps.audit.list({ userId, event, since, until, limit, offset })
  return { events: events.map(event => ({ ...event, time: isoTime(event.time) })) }
}

function readEvent(text: string | undefined): AuditEvent | undefined {
  const event = auditEvents.find(known => known === text)
  if (text === undefined || event) return event
  throw new InvalidInput('invalid-query', `\`event\` is one of ${auditEvents.join(', ')}.`)
}

/** A name, or the id of somebody who may no longer be there. */
const idOf = async ({ database }: Services, nameOrId: string): Promise<string> =>
  (await findUserByName(database, normaliseName(nameOrId)))?.id ?? nameOrId

async function userNamed({ database }: Services, name: string | undefined): Promise<User> {
  if (name === undefined) throw new InvalidInput('invalid-query', 'Say which user: `?user=NAME`.')
  const user = await findUserByName(database, normaliseName(name))
  if (!user) throw new NotFound('not-found', `There is no user "${name}".`)
  return user
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return 100
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_EVENTS) return limit
  throw new InvalidInput('invalid-query', `\`limit\` is a whole number from 1 to ${MAX_EVENTS}.`)
}

function readTime(text: string | undefined, parameter: string): Milliseconds | undefined {
  if (text === undefined) return undefined
  const [day = ''] = text.split('T')
  const time = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  // The engine takes the 30th of February for the 2nd of March.
  if (!Number.isNaN(time) && new Date(`${day}T00:00Z`).toISOString().startsWith(day)) return time
  throw new InvalidInput('invalid-query', `\`${parameter}\` is a date, or a date-time with its zone, as in ISO 8601.`)
}
