import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput } from '../../base/errors.ts'
import type { LogoutMessage } from '../../sso/saml/sign-on.ts'
import { withQuery } from '../../sso/with-query.ts'
import { content, redirect } from '../interface/answer.ts'
import { formBody } from '../interface/body.ts'
import { text as textParameter } from '../interface/parameters.ts'
import { route } from '../interface/route.ts'
import { text } from '../interface/schema.ts'
import type { Uses } from '../services.ts'
import { sendToProvider } from '../sso-departure.ts'

const url = '/auth/saml/logout/:idp'
/** The size of the largest accepted message, in base64 and percent-encoded, with its RelayState. */
const MAX_FORM_BYTES = 200_000

type LogoutServices = Uses<'base' | 'sso' | 'ui'>

const isOn = ({ sso }: Uses<'sso'>): boolean => sso.saml !== undefined

const described = {
  chapter: 'Sessions',
  details:
    'A `LogoutRequest` of the provider ends its logins here and is answered with a signed `LogoutResponse`. A `LogoutResponse` ends a ' +
    'sign-out that began here. Only with `single-logout` of this provider. [Single sign-on](single-sign-on.md#single-logout)',
  answers: {
    200: content('A page whose form takes the response to the identity provider.', ['text/html'], text()),
    303: redirect('To the identity provider with the response, or to the login page.'),
  },
  refusals: { 400: ['invalid-logout-message'], 404: ['not-found'], 503: ['overloaded'] },
  isOffered: isOn,
  fromElsewhere: true,
  ignoresCaller: true,
  visited: true,
} as const

/** Single logout by SAML 2.0 (D30): the address to which identity providers send requests and responses, by both bindings. */
export const samlLogoutRoutes = [
  route({
    id: 'receiveSamlLogoutByRedirect',
    method: 'GET',
    url,
    summary: 'Single logout: take a message of the identity provider by redirect.',
    query: {
      SAMLRequest: textParameter('A `LogoutRequest`, compressed and in base64.'),
      SAMLResponse: textParameter('A `LogoutResponse`, compressed and in base64.'),
      RelayState: textParameter('Goes back with the response.'),
      SigAlg: textParameter('Algorithm of the signature.'),
      Signature: textParameter('Signature of the other parameters, in base64.'),
    },
    ...described,
    handle: async (deps: LogoutServices, { request, reply, params, query, caller }) => {
      const raw = /\?([^#]*)/.exec(request.raw.url ?? '')?.[1] ?? ''
      const message: LogoutMessage = { received: { binding: 'redirect', query: raw }, relayState: query.RelayState }
      return await receive(deps, { request, reply }, params.idp, message, caller.client)
    },
  }),
  route({
    id: 'receiveSamlLogoutByPost',
    method: 'POST',
    url,
    summary: 'Single logout: take a message of the identity provider from a form.',
    body: formBody(
      {
        SAMLRequest: { description: 'A `LogoutRequest`, in base64.' },
        SAMLResponse: { description: 'A `LogoutResponse`, in base64.' },
        RelayState: { description: 'Goes back with the response.' },
      },
      { limit: MAX_FORM_BYTES },
    ),
    ...described,
    handle: async (deps: LogoutServices, { request, reply, params, body, caller }) => {
      const form = await body()
      const kinds = (['SAMLRequest', 'SAMLResponse'] as const).filter(name => form[name] !== undefined)
      const [kind] = kinds
      if (!kind || kinds.length > 1) {
        throw new InvalidInput('invalid-logout-message', 'The form needs either `SAMLRequest` or `SAMLResponse`.')
      }
      const received = { binding: 'post', kind, encoded: form[kind] ?? '' } as const
      return await receive(
        deps,
        { request, reply },
        params.idp,
        { received, relayState: form.RelayState },
        caller.client,
      )
    },
  }),
]

interface Pair {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

async function receive(
  deps: LogoutServices,
  pair: Pair,
  idp: string,
  message: LogoutMessage,
  client: FastifyRequest['caller']['client'],
): Promise<unknown> {
  if (!deps.sso.saml) throw new TypeError('SAML is off')
  const step = await deps.sso.saml.receiveLogout(idp, message, client)
  if (step.kind === 'answer') return await sendToProvider(deps, pair, step.redirect)
  const notice = step.isComplete ? { out: idp } : { left: idp }
  return await pair.reply.redirect(withQuery(deps.base.at('auth/login'), notice), 303)
}
