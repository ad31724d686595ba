import type { MailTexts } from '../../mails/link-mail.ts'
import type { PasswordRules } from '../../accounts/password-rules.ts'
import { InvalidInput } from '../../base/errors.ts'
import { empty, type Exchange, page, textParameter, route } from '../../http/interface/route.ts'
import { formBody, formOrJson, jsonBody } from '../../http/interface/bodies.ts'
import { openObject, optional, text } from '../../http/interface/schema.ts'
import { type LanguageWords, pageContext, sendPage, wordsFor } from '../../http/page.ts'
import { prefersHtml } from '../../http/protocol/negotiate.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { brokenRules, noticePage } from '../../http/pages/password-pages.ts'
import { askResetPage, newPasswordPage } from './pages.ts'
import type { MailKind, PasswordReset } from './password-reset.ts'

/** Where users ask for the mail, from the base address on. */
export const PATH = 'auth/pwreset'

const ResetRequest = openObject({ email: optional(text()), token: optional(text()), password: optional(text()) })

const asForm = formBody({
  email: { description: 'Asks for a mail to this address.' },
  token: { description: 'The token of the mail.' },
  password: { description: 'The new password.' },
})
// Any client can send this without a session, so the limit is as small as for a form.
const asJson = jsonBody(ResetRequest)

const resetBody = formOrJson(asForm, asJson, { email: 'anna@example.org' })

interface Services extends HttpServices {
  readonly passwordReset: PasswordReset
  readonly passwordRules: PasswordRules
}

/** Password reset by e-mail (D5.7): the request for a mail, the page behind its link, the new password. */
export const passwordResetRoutes = [
  route({
    id: 'showPasswordResetPage',
    method: 'GET',
    url: `/${PATH}`,
    chapter: 'Sessions',
    summary:
      'Show the page on which users ask for a mail, or, with the token of the mail, the page on which they set a new password.',
    details: 'This operation needs `service.auth.password-reset=on`.',
    query: { token: textParameter('The token of the mail.') },
    answers: { 200: page('The page.') },
    refusals: { 400: ['invalid-reset-token'] },
    refusedAs: 'text/html',
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, query: { token } }) => {
      const action = deps.base.at(PATH)
      const context = pageContext(deps, request)
      if (token === undefined) return sendPage(reply, askResetPage(context, action))
      const rules = deps.passwordRules.all
      if (await deps.passwordReset.isGood(token))
        return sendPage(reply, newPasswordPage(context, { action, token, rules }))
      const { linkGoneTitle: title, linkGone: notice } = context.words
      return sendPage(reply.status(400), noticePage(context, { title, notice, onward: action }))
    },
  }),
  route({
    id: 'resetPassword',
    method: 'POST',
    url: `/${PATH}`,
    chapter: 'Sessions',
    summary: 'Ask for a mail with `email`, or set a new password with `token` and `password`.',
    details: 'This operation needs `service.auth.password-reset=on`. Send JSON or a form.',
    body: resetBody,
    answers: {
      200: page('For a browser: the new password is set.'),
      202: empty('A mail is sent if a user has this address. The response is the same if not.'),
      204: empty('The new password is set, and all sessions of the user have ended.'),
    },
    refusals: { 400: ['invalid-reset-token', 'password-rules'], 503: ['overloaded'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, caller: { client }, body }) => {
      const { email, token, password } = await body()
      const reset = deps.passwordReset
      const context = pageContext(deps, request)
      if (email !== undefined && token === undefined) {
        reset.request(email, client, {
          address: deps.base.href,
          linkTo: token => `${deps.base.at(PATH)}?token=${token}`,
          textsFor: (kind, own) => mailTexts(kind, wordsFor(deps.ui, [own, request.headers['accept-language']])),
        })
        const { mailSentTitle: title, mailSent: notice } = context.words
        return answer(request, reply.status(202), noticePage(context, { title, notice, onward: context.home }))
      }
      if (token === undefined || password === undefined) {
        throw new InvalidInput('invalid-form', 'Send `email`, or `token` and `password`.')
      }
      try {
        await reset.reset(token, password, client)
      } catch (error) {
        const broken = prefersHtml(request) ? brokenRules(deps.passwordRules, error) : undefined
        if (!broken) throw error
        const form = { action: deps.base.at(PATH), token, rules: deps.passwordRules.all, broken }
        return sendPage(reply.status(400), newPasswordPage(context, form))
      }
      const { passwordSetTitle: title, passwordSet: notice } = context.words
      return answer(request, reply, noticePage(context, { title, notice, onward: context.home }))
    },
  }),
]

const mailTexts = (kind: MailKind, { language, words }: LanguageWords): MailTexts => ({
  language,
  subject: words[`mail.${kind}.subject`],
  why: words[`mail.${kind}.why`],
  how: words['mail.how'],
  button: words[`mail.${kind}.button`],
  otherwise: words[`mail.${kind}.otherwise`],
})

const answer = (request: Exchange['request'], reply: Exchange['reply'], page: string): Exchange['reply'] => {
  if (prefersHtml(request)) return sendPage(reply, page)
  return reply.statusCode === 202 ? reply.send() : reply.status(204).send()
}
