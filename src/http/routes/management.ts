import { availableParallelism, loadavg } from 'node:os'
import { auditEvents, eventOf } from '../../accounts/audit.ts'
import { isGuest, requireAdmin } from '../../accounts/caller.ts'
import { findUser, findUserByName, liftLockout, normaliseName } from '../../accounts/users.ts'
import { isoTime, parseTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { countStore } from '../../content/context-list.ts'
import { findContext } from '../../content/contexts.ts'
import type { OidcProvider } from '../../sso/oidc/provider.ts'
import type { SamlProvider } from '../../sso/saml/provider.ts'
import { userNamed } from '../caller.ts'
import {
  choice,
  custom,
  done,
  flagParameter,
  invalid,
  json,
  redirect,
  requiredText,
  route,
  textParameter,
  wholeNumber,
} from '../interface/route.ts'
import {
  anyOf,
  anything,
  list,
  mapOf,
  named,
  numeric,
  object,
  openObject,
  optional,
  text,
} from '../interface/schema.ts'
import { count, time, uri } from '../interface/schemas.ts'
import { preferenceAmong, prefersHtml } from '../protocol/negotiate.ts'
import type { Parameters } from '../protocol/body.ts'
import type { ScheduledBackups } from '../metrics.ts'
import type { Uses } from '../services.ts'
import { OIDC_CALLBACK_PATH } from './oidc.ts'
import type { Federation } from '../../sso/saml/federation.ts'

const chapter = 'Status and administration'

const Status = named(
  'Status',
  openObject({
    version: text(),
    repositoryStatus: text(),
    repositoryType: optional(text()),
    baseURI: optional(uri),
    startupTime: optional(time),
  }),
)

const preferredForm = preferenceAmong(['application/json', 'text/plain'])

const pointInTime = (description: string) =>
  custom<Milliseconds | undefined>(description, readTime, { keywords: { format: 'date-time' } })

/** Routes for administrators: state of the service, lockouts, audit log (W3.14, D6.5). */
export const managementRoutes = [
  route({
    id: 'readService',
    method: 'GET',
    url: '/',
    chapter,
    summary: 'Read what this service is.',
    answers: {
      200: json(
        'The service.',
        named('Service', object({ service: text(), version: text(), repositoryStatus: text(), baseURI: uri })),
      ),
      303: redirect('For a browser: to the pages for people, or to the sign-in page.'),
    },
    htmlErrors: true,
    handle: async ({ base, options }: Uses<'base' | 'options'>, { request, reply, caller }) => {
      if (prefersHtml(request)) return await reply.redirect(base.at(isGuest(caller) ? 'auth/login' : 'ui/'), 303)
      return { service: 'Stowage', ...brief(options.version), baseURI: base.href }
    },
  }),
  route({
    id: 'readStatus',
    method: 'GET',
    url: '/management/status',
    chapter,
    summary: 'Read version and state.',
    details: 'For `Accept: text/plain` the answer is `UP`.',
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
      {
        backups,
        base,
        database,
        ledger,
        options,
        startedAt,
      }: Uses<'backups' | 'base' | 'database' | 'ledger' | 'options' | 'startedAt'>,
      { request, reply, caller, query },
    ) => {
      const { version, cors } = options
      if (query.extended) {
        requireAdmin(caller, 'see the extended status')
        const stats = query.includeStats ? { stats: await countStore(database) } : {}
        return {
          ...brief(version),
          repositoryType: options.repositoryType,
          baseURI: base.href,
          startupTime: isoTime(startedAt),
          quota: ledger.enforced,
          cors: { enabled: cors.enabled, origins: cors.origins, maxAge: cors.maxAge },
          // Clients know the engine by this name. An entry is indexed in the transaction that changes it, so
          // nothing waits.
          solr: { enabled: true, status: 'online', postQueueSize: 0 },
          ...(backups ? { backup: await describeBackups(backups) } : {}),
          ...runtime(),
          ...stats,
        }
      }
      const prefersText = preferredForm(request) === 'text/plain'
      return prefersText ? await reply.type('text/plain; charset=utf-8').send('UP') : brief(version)
    },
  }),
  route({
    id: 'listLockouts',
    method: 'GET',
    url: '/management/lockouts',
    chapter,
    summary: 'List the users who are locked out, by wrong passwords or wrong codes.',
    requires: { role: 'admin', to: 'see who is locked out' },
    answers: {
      200: json(
        'The lockouts.',
        named(
          'Lockouts',
          object({ lockouts: list(object({ id: text(), user: text(), failures: count, lockedUntil: time })) }),
        ),
      ),
    },
    handle: async ({ database, lockout }: Uses<'database' | 'lockout'>) => {
      const lockouts = new Map<
        string,
        { id: string; user: string | undefined; failures: number; lockedUntil: string }
      >()
      // Of two locks of a user the one that ends last is shown: it comes first.
      for (const { userId, of, unlocks, failures, until } of await lockout.lockedUsers()) {
        const user = lockouts.has(userId) ? undefined : await findUser(database, userId)
        if (!user || (of === 'codes' ? user.codeUnlocks : user.unlocks) !== unlocks) continue
        lockouts.set(userId, { id: userId, user: user.name, failures, lockedUntil: isoTime(until) })
      }
      return { lockouts: [...lockouts.values()] }
    },
  }),
  route({
    id: 'liftLockout',
    method: 'DELETE',
    url: '/management/lockouts',
    chapter,
    summary: 'Lift the lockout of a user, and forget the wrong passwords that were counted.',
    tokenScopes: [],
    requires: { role: 'admin', to: 'lift a lockout' },
    query: { user: requiredText('Name of the user.', { example: 'anna' }) },
    answers: { 204: done },
    refusals: { 403: ['fresh-sign-in-required'], 404: ['not-found'] },
    handle: async ({ audit, database, stepUp }: Uses<'audit' | 'database' | 'stepUp'>, { reply, caller, query }) => {
      stepUp.requireFresh(caller)
      const user = await userNamed({ database }, query.user)
      await liftLockout(database, user.id)
      await audit.record(eventOf('unlocked', caller, user))
      return await reply.status(204).send()
    },
  }),
  route({
    id: 'listAuditEvents',
    method: 'GET',
    url: '/management/audit',
    chapter,
    summary: 'Read the audit log, the latest event first.',
    requires: { role: 'admin', to: 'read the audit log' },
    query: {
      user: textParameter(
        'Events about this user, or caused by them: a name, a part of a name, or the id of a user who may have been deleted.',
      ),
      userId: textParameter('Events about the user with exactly this id, or caused by them, whatever names there are.'),
      event: choice('Events of this kind.', auditEvents, undefined),
      place: textParameter('Events about this context (id or name) and its entries, or about one entry: `context/id`.'),
      since: pointInTime('Events from then on: a date, or a date-time with its zone (ISO 8601).'),
      until: pointInTime('Events before then.'),
      limit: wholeNumber('How many to return.', { otherwise: 100, min: 1, max: 1000 }),
      offset: wholeNumber('How many to skip.', { otherwise: 0 }),
    },
    answers: {
      200: json(
        'The events.',
        named(
          'AuditTrail',
          object({
            events: list(
              object({
                time,
                event: text(),
                detail: mapOf(anyOf(text(), numeric)),
                userId: optional(text()),
                userName: optional(text()),
                actorId: optional(text()),
                address: optional(text()),
              }),
            ),
          }),
        ),
      ),
    },
    handle: async ({ audit, database }: Uses<'audit' | 'database'>, { query: { user, userId, place, ...filter } }) => {
      const named = user === undefined ? undefined : await idOf({ database }, user)
      const userText = named === undefined && userId === undefined ? user : undefined
      const events = await audit.list({
        userId: userId ?? named,
        userText,
        place: place === undefined ? undefined : await placeIn({ database }, place),
        ...filter,
      })
      return { events: events.map(event => ({ ...event, time: isoTime(event.time) })) }
    },
  }),
  route({
    id: 'readSsoStatus',
    method: 'GET',
    url: '/management/sso',
    chapter,
    summary: 'Read the state of single sign-on: providers, metadata, certificates, and the latest 100 refusals.',
    requires: { role: 'admin', to: 'see the state of single sign-on' },
    answers: {
      200: json(
        'The state of single sign-on.',
        named(
          'SsoStatus',
          object({
            saml: list(mapOf(anything)),
            oidc: list(mapOf(anything)),
            failures: list(mapOf(anything)),
            cas: optional(object({ serviceUrl: uri })),
          }),
        ),
      ),
    },
    handle: async ({ base, sso, system }: Uses<'base' | 'sso' | 'system'>) => {
      const { saml, oidc, cas, failures } = sso
      return {
        saml: await Promise.all((saml?.providers ?? []).map(({ provider }) => describeSaml(provider, system.now()))),
        oidc: await Promise.all(
          (oidc?.providers ?? []).map(({ provider }) => describeOidc(provider, base.at(OIDC_CALLBACK_PATH))),
        ),
        cas: cas ? { serviceUrl: base.at('auth/cas') } : undefined,
        failures: failures.list().map(failure => ({ ...failure, time: isoTime(failure.time) })),
      }
    },
  }),
]

const brief = (version: string) => ({ version, repositoryStatus: 'online' })

/** The last scheduled backup, and what went wrong at the last attempt. */
async function describeBackups(backups: ScheduledBackups) {
  const { ended, made } = await backups.report()
  return {
    made: made && { time: isoTime(made.started), bytes: made.bytes },
    problem: ended?.problem ?? undefined,
  }
}

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

async function describeSaml({ name, acsUrl, metadata, federation }: SamlProvider, now: Milliseconds) {
  if (federation) return { name, acsUrl, ...(await describeFederation(federation.members)) }
  const { url, loadedAt, metadata: known, problem } = await metadata.status()
  return {
    name,
    acsUrl,
    metadata: { url, loaded: isoTime(loadedAt), problem },
    entityId: known?.entityId,
    validUntil: isoTime(known?.validUntil),
    certificates: known?.certificates.map(({ subject, sha256, expires }) => ({
      subject,
      sha256,
      expires: isoTime(expires),
      daysLeft: Math.floor((expires - now) / 86_400_000),
    })),
  }
}

async function describeFederation(members: Federation) {
  const { kind, url, loadedAt, validUntil, offered, unusable, reasons, problem } = await members.status()
  return {
    metadata: { url, loaded: isoTime(loadedAt), problem },
    validUntil: isoTime(validUntil),
    federation: { kind, providers: offered, unusable, reasons },
  }
}

async function describeOidc({ name, issuer, clientId, metadata }: OidcProvider, callbackUrl: string) {
  const { url, loadedAt, metadata: known, problem } = await metadata.status()
  return {
    name,
    issuer,
    clientId,
    callbackUrl,
    metadata: { url, loaded: isoTime(loadedAt), problem },
    keys: known?.keys.length,
    algorithms: known?.algorithms,
  }
}

/** The id of the user who has this name now. */
const idOf = async ({ database }: Uses<'database'>, name: string): Promise<string | undefined> =>
  (await findUserByName(database, normaliseName(name)))?.id

/** A place with the id of its context, which may have been deleted. */
async function placeIn({ database }: Uses<'database'>, place: string): Promise<string> {
  const [key = '', ...entry] = place.split('/')
  return [(await findContext(database, key))?.id ?? key, ...entry].join('/')
}

function readTime(parameters: Parameters, name: string): Milliseconds | undefined {
  const text = parameters.get(name)
  if (text === undefined) return undefined
  const time = parseTime(text)
  if (time !== undefined) return time
  throw invalid(`\`${name}\` must be a date, or a date-time with its zone, as in ISO 8601.`)
}
