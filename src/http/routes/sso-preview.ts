import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { SignOnResult } from '../../sso/sign-on-preview.ts'
import { json, requiredText, route } from '../interface/route.ts'
import { jsonBody } from '../interface/bodies.ts'
import { anything, flag, list, mapOf, named, object, optional, text } from '../interface/schema.ts'
import { time } from '../interface/schemas.ts'
import type { Uses } from '../services.ts'
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

/** What a sign-on by an identity provider would yield, for administrators who set up a mapping (D27.7). */
export const ssoPreviewRoutes = [
  route({
    id: 'readLatestSignOn',
    method: 'GET',
    url: '/management/sso/latest',
    chapter,
    summary: 'Read what a provider stated about a user at its latest sign-on, accepted or not.',
    details:
      'Kept in memory, of this process only. Without `attributes` if they are larger than 64 KiB. A sign-on that failed a check of its protocol is not kept.',
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
    handle: async ({ sso }: Uses<'sso'>, { query }) => {
      const latest = sso.preview.latest.find(query.provider)
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
      'Without `name` it is read from the claims, for OpenID Connect. `groups.missing` do not exist and are not created; `groups.unusable` are values that name no group which the provider may decide about.',
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
    handle: async ({ sso }: Uses<'sso'>, { body }) => {
      const { provider, ...tried } = await body()
      const result = await sso.preview.of(provider, tried)
      if (result) return describe(result)
      const known = sso.preview.providers.join(', ')
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
