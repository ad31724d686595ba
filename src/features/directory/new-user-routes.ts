import { jsonBody } from '../../http/interface/bodies.ts'
import { json, route } from '../../http/interface/route.ts'
import { flag, integer, list, named, object, optional, text } from '../../http/interface/schema.ts'
import type { Creation } from '../../content/creation.ts'
import type { HttpServices } from '../../http/http-services.ts'

const NewUser = named(
  'NewUser',
  object({
    name: text(),
    password: optional(text()),
    temporaryPassword: optional(flag),
    fullName: optional(text()),
    email: optional(text()),
    groups: optional(list(text())),
    space: optional(object({ title: optional(text()), quota: optional(integer(-1)) })),
  }),
)

interface Services extends HttpServices {
  readonly creation: Creation
}

/** Users with all that belongs to them, for administrators. */
export const newUserRoutes = [
  route({
    id: 'createUser',
    method: 'POST',
    url: '/management/users',
    chapter: 'Status and administration',
    summary: 'Create a user with groups and a home context. If a part fails, nothing is created.',
    details:
      '`groups` contains ids. With `space` the user gets a context that they own. Its title is `title`, or else the name of the user; `quota` is in bytes.',
    requires: { role: 'admin', to: 'create users' },
    body: jsonBody(NewUser, { example: { name: 'bea', fullName: 'Bea Berg', space: {} } }),
    answers: { 201: json('The ids.', object({ id: text(), homecontext: optional(text()) })) },
    refusals: {
      400: ['invalid-member', 'invalid-name', 'invalid-value', 'password-rules', 'password-too-long'],
      403: ['access-token-scope', 'fresh-sign-in-required'],
      409: ['name-taken'],
      501: ['quota-not-supported'],
      503: ['overloaded'],
    },
    handle: async ({ creation }: Services, { caller, body, reply }) => {
      const { groups = [], ...user } = await body()
      const created = await creation.createUser(caller, { groups, ...user })
      reply.status(201)
      return created
    },
  }),
]
