import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PasswordReset } from '../../accounts/password-reset.ts'
import { InvalidInput } from '../../base/errors.ts'
import { isObject } from '../../content/values.ts'
import { mediaTypeOf, MOST_FORM_BYTES } from '../body.ts'
import { prefersHtml } from '../negotiate.ts'
import { sendPage } from '../send-page.ts'
import { askResetPage, newPasswordPage, noticePage } from '../pages/reset-pages.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

const PATH = 'auth/pwreset'

/** A new password by e-mail (D5.7): asking for the mail, the page behind its link, setting the password. */
export const passwordResetRoutes = (on: Services): Route[] => {
  const { passwordReset } = on
  if (!passwordReset) return []
  const marks = { url: `/${PATH}`, ignoresCaller: true, visited: true } as const
  return [
    { method: 'GET', handle: getPage(on, passwordReset), ...marks },
    { method: 'POST', handle: post(on, passwordReset), ...marks },
  ]
}

const getPage = (on: Services, reset: PasswordReset) => async (request: FastifyRequest, reply: FastifyReply) => {
  const token = request.parameters.get('token')
  const action = on.base.at(PATH)
  if (token === undefined) return sendPage(reply, askResetPage(action))
  if (await reset.isGood(token)) return sendPage(reply, newPasswordPage(action, token))
  return sendPage(
    reply.status(400),
    noticePage('Link no longer good', 'It works once and for a day. Ask for a new one.', action),
  )
}

/** `{email}` asks for the mail, `{token, password}` sets the password; as JSON or as a form. */
const post = (on: Services, reset: PasswordReset) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { email, token, password } = await readFields(on, request, reply)
  const { client } = request.caller
  if (email !== undefined && token === undefined) {
    reset.request(email, client, token => `${on.base.at(PATH)}?token=${token}`)
    const notice = 'If the address belongs to an account, a mail with a link is on its way.'
    return answer(request, reply.status(202), noticePage('Look into your mailbox', notice, on.base.at('auth/login')))
  }
  if (token === undefined || password === undefined) {
    throw new InvalidInput('invalid-form', 'Send `email`, or `token` and `password`.')
  }
  await reset.reset(token, password, client)
  const notice = 'Your new password is set. All your logins have ended: sign in again.'
  return answer(request, reply, noticePage('Password set', notice, on.base.at('auth/login')))
}

async function readFields(on: Services, request: FastifyRequest, reply: FastifyReply) {
  const names = ['email', 'token', 'password'] as const
  if (mediaTypeOf(request.raw) === 'application/x-www-form-urlencoded') {
    const form = await on.bodies.form(request.raw, reply.raw)
    return Object.fromEntries(names.map(name => [name, form.get(name)])) as Record<
      (typeof names)[number],
      string | undefined
    >
  }
  // Strangers send this, and what they ask for waits in a queue.
  const json = await on.bodies.json(request.raw, reply.raw, MOST_FORM_BYTES)
  const read = (name: string): string | undefined => {
    const value = isObject(json) ? json[name] : undefined
    if (value === undefined || (typeof value === 'string' && value.isWellFormed())) return value
    throw new InvalidInput('invalid-json', `\`${name}\` is not a text.`)
  }
  return { email: read('email'), token: read('token'), password: read('password') }
}

const answer = (request: FastifyRequest, reply: FastifyReply, page: string): FastifyReply => {
  if (prefersHtml(request)) return sendPage(reply, page)
  return reply.statusCode === 202 ? reply.send() : reply.status(204).send()
}
