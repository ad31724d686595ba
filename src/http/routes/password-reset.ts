import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PasswordRule } from '../../accounts/password-rules.ts'
import type { PasswordReset } from '../../accounts/password-reset.ts'
import { InvalidInput } from '../../base/errors.ts'
import { isObject } from '../../content/values.ts'
import { mediaTypeOf, MAX_FORM_BYTES } from '../body.ts'
import { pageContext } from '../page-context.ts'
import { prefersHtml } from '../negotiate.ts'
import { sendPage } from '../send-page.ts'
import { askResetPage, newPasswordPage, noticePage } from '../pages/reset-pages.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

const PATH = 'auth/pwreset'

/** A new password by e-mail (D5.7): asking for the mail, the page behind its link, setting the password. */
export const passwordResetRoutes = (deps: Services): Route[] => {
  const { passwordReset } = deps
  if (!passwordReset) return []
  const marks = { url: `/${PATH}`, ignoresCaller: true, visited: true } as const
  return [
    { method: 'GET', handle: getPage(deps, passwordReset), ...marks },
    { method: 'POST', handle: post(deps, passwordReset), ...marks },
  ]
}

const getPage = (deps: Services, reset: PasswordReset) => async (request: FastifyRequest, reply: FastifyReply) => {
  const token = request.parameters.get('token')
  const action = deps.base.at(PATH)
  const look = pageContext(deps, request)
  if (token === undefined) return sendPage(reply, askResetPage(look, action))
  const rules = deps.passwordRules.all
  if (await reset.isGood(token)) return sendPage(reply, newPasswordPage(look, { action, token, rules }))
  return sendPage(
    reply.status(400),
    noticePage(look, { title: look.words.linkGoneTitle, notice: look.words.linkGone, onward: action }),
  )
}

/** `{email}` asks for the mail, `{token, password}` sets the password; as JSON or as a form. */
const post = (deps: Services, reset: PasswordReset) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { email, token, password } = await readFields(deps, request, reply)
  const { client } = request.caller
  const look = pageContext(deps, request)
  if (email !== undefined && token === undefined) {
    reset.request(email, client, token => `${deps.base.at(PATH)}?token=${token}`)
    const { mailSentTitle: title, mailSent: notice } = look.words
    return answer(request, reply.status(202), noticePage(look, { title, notice, onward: look.home }))
  }
  if (token === undefined || password === undefined) {
    throw new InvalidInput('invalid-form', 'Send `email`, or `token` and `password`.')
  }
  try {
    await reset.reset(token, password, client)
  } catch (error) {
    const broken = prefersHtml(request) ? brokenRules(deps, error) : undefined
    if (!broken) throw error
    const form = { action: deps.base.at(PATH), token, rules: deps.passwordRules.all, broken }
    return sendPage(reply.status(400), newPasswordPage(look, form))
  }
  const { passwordSetTitle: title, passwordSet: notice } = look.words
  return answer(request, reply, noticePage(look, { title, notice, onward: look.home }))
}

/** A person gets the form back, with what the password lacks. */
function brokenRules({ passwordRules }: Services, error: unknown): readonly PasswordRule[] | undefined {
  if (!(error instanceof InvalidInput) || error.code !== 'password-rules') return undefined
  const names = error.extra['rules']
  return passwordRules.all.filter(({ name }) => Array.isArray(names) && names.includes(name))
}

async function readFields(deps: Services, request: FastifyRequest, reply: FastifyReply) {
  const names = ['email', 'token', 'password'] as const
  if (mediaTypeOf(request.raw) === 'application/x-www-form-urlencoded') {
    const form = await deps.bodies.form(request.raw, reply.raw)
    return Object.fromEntries(names.map(name => [name, form.get(name)])) as Record<
      (typeof names)[number],
      string | undefined
    >
  }
  // Strangers send this, and what they ask for waits in a queue.
  const json = await deps.bodies.json(request.raw, reply.raw, MAX_FORM_BYTES)
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
