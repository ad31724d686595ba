import type { HttpServices } from '../http-services.ts'
import type { Audit } from '../../accounts/audit.ts'
import type { Database } from '../../stores/database.ts'
import type { Lockout } from '../../accounts/lockout.ts'
import type { StepUp } from '../../accounts/step-up.ts'
import { eventOf } from '../../accounts/audit.ts'
import { isGuest } from '../../accounts/caller.ts'
import { findUser, liftLockout } from '../../accounts/users.ts'
import { isoTime } from '../../base/times.ts'
import { userNamed } from '../caller.ts'
import { done, json, redirect, requiredText, route } from '../interface/route.ts'
import { list, named, object, text } from '../interface/schema.ts'
import { count, time, uri } from '../interface/shared-schemas.ts'
import { isNavigation } from '../protocol/negotiate.ts'

interface Services extends HttpServices {
  readonly audit: Audit
  readonly database: Database
  readonly lockout: Lockout
  readonly stepUp: StepUp
}

const chapter = 'Status and administration'

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
    handle: async ({ base, options }: Services, { request, reply, caller }) => {
      if (isNavigation(request)) return await reply.redirect(base.at(isGuest(caller) ? 'auth/login' : 'ui/'), 303)
      return { service: 'Stowage', ...brief(options.version), baseURI: base.href }
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
    handle: async ({ database, lockout }: Services) => {
      const lockouts = new Map<
        string,
        { id: string; user: string | undefined; failures: number; lockedUntil: string }
      >()
      // If a user has two locks, the lock that ends last comes first and is shown.
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
    handle: async ({ audit, database, stepUp }: Services, { reply, caller, query }) => {
      stepUp.requireFresh(caller)
      const user = await userNamed({ database }, query.user)
      await liftLockout(database, user.id)
      await audit.record(eventOf('unlocked', caller, user))
      return await reply.status(204).send()
    },
  }),
]

const brief = (version: string) => ({ version, repositoryStatus: 'online' })
