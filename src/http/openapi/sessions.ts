import { answer, done, elsewhere, form, json, type Operations, page, ref } from './operation.ts'

const user = answer('The current user.', json(ref('CurrentUser')))
const xml = { types: ['application/samlmetadata+xml'], schema: { type: 'string' } }

/** Signing in and out (interface 2 to 5). */
export const sessionOperations: Operations = {
  'POST /auth/cookie': {
    summary: 'Sign in with name and password; sets the cookie `auth_token`.',
    body: form(['auth_username', 'auth_password', 'auth_maxage', 'successurl']),
    answers: { 200: user, 303: elsewhere },
  },
  'GET /auth/basic': {
    summary: 'Ask for HTTP Basic credentials.',
    query: { auth_challenge: '`false` leaves the challenge out.' },
    answers: { 200: user },
  },
  'GET /auth/user': { summary: 'Who the caller is.', answers: { 200: user } },
  'GET /auth/user/contexts': {
    summary: 'The contexts that the caller may write to.',
    query: { limit: 'How many, at most 100.', offset: 'From which on.' },
    answers: { 200: answer('Contexts by name.', json(ref('WritableContexts'))) },
  },
  'GET /auth/login': {
    summary: 'The page to sign in.',
    query: {
      successurl: 'Where to go afterwards, at this service.',
      email: 'Leads on to the identity provider of this address.',
      ended: 'A session has ended.',
    },
    answers: { 200: page, 303: elsewhere },
  },
  'GET /auth/password-rules': {
    summary: 'What a new password must be like.',
    answers: { 200: answer('The rules, each of which must hold.', json(ref('PasswordRules'))) },
  },
  'GET /auth/logout': { summary: 'Sign out.', answers: { 204: done, 303: elsewhere } },
  'POST /auth/logout': { summary: 'Sign out.', answers: { 204: done, 303: elsewhere } },
  'GET /auth/tokens': {
    summary: 'Live logins by token.',
    query: {
      user: 'Somebody else’s, for administrators.',
      scope: '`current`: the login that the request comes by; `others`: all but that.',
    },
    answers: { 200: answer('Logins by token.', json(ref('Logins'))) },
  },
  'DELETE /auth/tokens': {
    summary: 'End one login, all others, or all.',
    body: json({
      type: 'object',
      properties: { token: { type: 'string' }, scope: { enum: ['others', 'all'] } },
    }),
    answers: { 204: done },
  },
  'GET /auth/pwreset': {
    summary: 'The page to ask for a new password, or to set it.',
    query: { token: 'As in the mail.' },
    answers: { 200: page },
  },
  'POST /auth/pwreset': {
    summary: 'Ask for a mail, or set the new password with what it brought.',
    body: form(['email', 'token', 'password']),
    answers: { 200: page, 202: answer('A mail is sent if somebody has this address.'), 204: done },
  },
  'GET /auth/cas': {
    summary: 'Sign in by CAS.',
    query: { ticket: 'Given by the CAS server.' },
    answers: { 200: user, 303: elsewhere },
  },
  'GET /auth/saml': {
    summary: 'Sign in by SAML 2.0.',
    query: {
      idp: 'Name of the identity provider.',
      username: 'An e-mail address, whose domain decides.',
      successurl: 'Where to go afterwards.',
      failureurl: 'Where to go after a refusal.',
    },
    answers: { 200: page, 303: elsewhere },
  },
  'POST /auth/saml': {
    summary: 'Where identity providers send their responses.',
    body: form(['SAMLResponse', 'RelayState']),
    answers: { 200: user, 303: elsewhere },
  },
  'GET /auth/saml/metadata': {
    summary: 'Metadata of this service provider.',
    query: { idp: 'Name of the identity provider.' },
    answers: { 200: answer('Metadata.', xml) },
  },
}
