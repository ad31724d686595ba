import { json, route } from '../interface/route.ts'
import { jsonBody } from '../interface/bodies.ts'
import { named, object, optional, text } from '../interface/schema.ts'
import { count } from '../interface/schemas.ts'
import type { Uses } from '../services.ts'

type Services = Uses<'accessMails'>

/** Mails to people with access to an entry. */
export const accessMailRoutes = [
  route({
    id: 'sendMessage',
    method: 'POST',
    url: '/:context/messages/:entry',
    chapter: 'Entries',
    summary: 'Send a mail with a link to an entry to a user, or to the members of a group, with access to it.',
    access: 'users who administer the entry',
    details:
      'Only with a mail server (`service.smtp.host`). `principal` is the id of the user or group, of at most 50 members. `text`, of at most 1,000 characters, is added as plain text. The mail goes to users whose name is an e-mail address, in their language; a user can send 100 an hour.',
    body: jsonBody(named('NewMessage', object({ principal: text(), text: optional(text()) })), {
      example: { principal: 'anna', text: 'The photos of the trip.' },
    }),
    answers: {
      200: json(
        'How many people get a mail, and how many have no address.',
        object({ sent: count, withoutAddress: count }),
      ),
    },
    refusals: {
      400: ['invalid-type', 'invalid-value'],
      401: [],
      403: ['not-allowed', 'access-token-scope'],
      404: [],
      429: ['too-many-messages'],
    },
    // Mails in the name of a user need the user.
    tokenScopes: [],
    isOffered: ({ accessMails }: Services) => accessMails !== undefined,
    handle: async ({ accessMails }: Services, { caller, params, body }) => {
      if (!accessMails) throw new Error('messages are not offered')
      return await accessMails.send(caller, params, body)
    },
  }),
]
