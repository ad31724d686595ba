import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { SignOnResult } from './sign-on-preview.ts'
import { json, requiredText, route } from '../../http/interface/route.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { anything, flag, list, mapOf, named, object, openObject, optional, text } from '../../http/interface/schema.ts'
import { time } from '../../http/interface/shared-schemas.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Sso } from './open.ts'
import { protocols } from './protocols.ts'
import { isoTime } from '../../base/times.ts'

const chapter = 'Status and administration'
const MAX_BYTES = 1_048_576
const names = list(text())

const SignOnPreview = named(
  'SignOnPreview',
  object({
    accepted: flag,
    refusal: optional(object({ check: text(), expected: optional(text()), received: optional(text()) })),
    name: optional(text()),
    userId: optional(text()),
    changes: optional(list(object({ target: text(), before: optional(text()), after: text() }))),
    groups: optional(object({ before: names, after: names, created: names, missing: names, unusable: names })),
  }),
)

interface Services extends HttpServices, Pick<Sso, 'failures' | 'preview' | 'running'> {}

/** The state of single sign-on, and what a sign-on by an identity provider would yield, for administrators who set up a mapping (D27.7). */
export const ssoRoutes = [
  route({
    id: 'readSsoStatus',
    method: 'GET',
    url: '/management/sso',
    chapter,
    summary: 'Read the state of single sign-on: providers, metadata, certificates, and the latest 100 refusals.',
    details: 'Besides `failures`, the response has one member for each protocol.',
    requires: { role: 'admin', to: 'see the state of single sign-on' },
    answers: {
      200: json('The state of single sign-on.', named('SsoStatus', openObject({ failures: list(mapOf(anything)) }))),
    },
    handle: async ({ running, failures }: Services) => ({
      ...Object.fromEntries(
        await Promise.all(
          protocols.map(async ({ name, statusWhenOff }) => {
            const protocol = running.find(name)
            return [name, protocol ? await protocol.status() : statusWhenOff] as const
          }),
        ),
      ),
      failures: failures.list().map(failure => ({ ...failure, time: isoTime(failure.time) })),
    }),
  }),
  route({
    id: 'readLatestSignOn',
    method: 'GET',
    url: '/management/sso/latest',
    chapter,
    summary: 'Read what a provider stated about a user at its latest sign-on, accepted or not.',
    details:
      'The sign-on is stored in the memory of this process only. `attributes` is absent if it is larger than 64 KiB. A sign-on that failed a check of its protocol is not stored.',
    requires: { role: 'admin', to: 'see what providers state about users' },
    query: { provider: requiredText('Name of the provider.', { example: 'campus' }) },
    answers: {
      200: json(
        'The latest sign-on.',
        named(
          'LatestSignOn',
          object({ time, name: text(), subject: optional(text()), attributes: optional(mapOf(anything)) }),
        ),
      ),
    },
    refusals: { 404: ['not-found'] },
    handle: async ({ preview }: Services, { query }) => {
      const latest = preview().latest.find(query.provider)
      if (!latest) throw new NotFound('not-found', `Nobody has signed in by "${query.provider}" since the start.`)
      const { name, subject, attributes } = latest
      return { time: isoTime(latest.time), name, subject, attributes }
    },
  }),
  route({
    id: 'previewSignOn',
    method: 'POST',
    url: '/management/sso/preview',
    chapter,
    summary: 'Show what a sign-on with these attributes would yield. It changes nothing.',
    details:
      'Without `name` the name is read from the attributes, if the protocol has it there. `groups.missing` are groups that do not exist and are not created; `groups.unusable` are values that name no group which the provider may decide about.',
    requires: { role: 'admin', to: 'try a sign-on' },
    body: jsonBody(
      object({ provider: text(), name: optional(text()), subject: optional(text()), attributes: mapOf(anything) }),
      {
        example: {
          provider: 'campus',
          name: 'anna@example.org',
          attributes: { eduPersonAffiliation: ['staff'], isMemberOf: ['editors'] },
        },
        limit: MAX_BYTES,
      },
    ),
    answers: { 200: json('What the sign-on would yield.', SignOnPreview) },
    refusals: { 400: ['unknown-idp', 'invalid-json'] },
    handle: async ({ preview }: Services, { body }) => {
      const { provider, ...tried } = await body()
      const result = await preview().of(provider, tried)
      if (result) return describe(result)
      const known = preview().providers.join(', ')
      throw new InvalidInput('unknown-idp', `There is no provider "${provider}"; there is ${known || 'none'}.`)
    },
  }),
]

function describe(result: SignOnResult) {
  if ('refused' in result) {
    const { check, expected, received } = result.refused
    return { accepted: false, refusal: { check, expected, received } }
  }
  const { name, userId, changes, groups } = result
  const { before, after, created, missing, unusable } = groups
  return { accepted: true, name, userId, changes, groups: { before, after, created, missing, unusable } }
}
