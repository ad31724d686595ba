import { json, route } from '../../http/interface/route.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { named, object, optional, text } from '../../http/interface/schema.ts'
import { count } from '../../http/interface/shared-schemas.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { ShareMails } from './share-mails.ts'

interface Services extends HttpServices {
  readonly shareMails: ShareMails
}

/** Mails to people with access to an entry. */
export const shareMailRoutes = [
  route({
    id: 'sendMessage',
    method: 'POST',
    url: '/:context/messages/:entry',
    chapter: 'Entries',
    summary:
      'Send a mail with a link to an entry to a user, or to the members of a group, who have access to the entry.',
    access: 'users who administer the entry',
    details:
      'This operation needs a mail server (`service.smtp.host`). `principal` is the id of the user, or of a group of at most 50 members. The mail contains `text` (at most 1,000 characters) as plain text. Users whose name is an e-mail address get the mail, in their language. A user can send 100 mails an hour.',
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
    handle: async ({ shareMails }: Services, { caller, params, body }) => await shareMails.send(caller, params, body),
  }),
]
