import { answer, done, elsewhere, json, type Operations, ref } from './operation.ts'

const portion = { query: 'Part of a name or an id.', limit: 'How many, at most 100.', offset: 'From which on.' }

const text = (type: string) => ({ types: [type], schema: { type: 'string' } })

/** State of the service, and what administrators see of it (wire facts 3.14). */
export const administrationOperations: Operations = {
  'GET /': {
    summary: 'What this is.',
    answers: { 200: answer('The service.', json(ref('Root'))), 303: elsewhere },
  },
  'GET /openapi.json': {
    summary: 'This document.',
    answers: { 200: answer('OpenAPI 3.1.', json({ type: 'object' })) },
  },
  'GET /management/status': {
    summary: 'Version and state.',
    query: { extended: 'More, for administrators.', includeStats: 'And how much there is of what.' },
    answers: { 200: answer('The state.', { types: ['application/json', 'text/plain'], schema: ref('Status') }) },
  },
  'GET /management/health': {
    summary: 'Whether the process answers.',
    answers: {
      200: answer('It does.', json({ type: 'object', properties: { status: { const: 'up' } }, required: ['status'] })),
    },
  },
  'GET /management/ready': {
    summary: 'Whether this process should be sent requests.',
    answers: {
      200: answer('It should.', json(ref('Readiness'))),
      503: answer('It should not.', json(ref('Readiness'))),
    },
  },
  'GET /management/metrics': {
    summary: 'Metrics for Prometheus.',
    answers: { 200: answer('Metrics.', text('text/plain')) },
  },
  'GET /management/lockouts': {
    summary: 'Who is locked out.',
    answers: { 200: answer('Lockouts.', json(ref('Lockouts'))) },
  },
  'DELETE /management/lockouts': {
    summary: 'Lift a lockout.',
    query: { user: 'Whose.' },
    answers: { 204: done },
  },
  'GET /management/audit': {
    summary: 'What has happened, the latest first.',
    query: {
      user: 'To whom.',
      event: 'Of which kind.',
      since: 'Not earlier.',
      until: 'Before.',
      limit: 'Most events.',
      offset: 'From which on.',
    },
    answers: { 200: answer('Events.', json(ref('AuditTrail'))) },
  },
  'GET /management/users': {
    summary: 'Users by name.',
    query: portion,
    answers: { 200: answer('Users.', json(ref('UserList'))) },
  },
  'GET /management/groups': {
    summary: 'Groups by name.',
    query: portion,
    answers: { 200: answer('Groups.', json(ref('GroupList'))) },
  },
  'GET /management/contexts': {
    summary: 'Contexts with their quota.',
    query: {
      ...portion,
      sort: '`name`, `fullness`: the least room in relation to the quota first, `used`: the most bytes first.',
    },
    answers: { 200: answer('Contexts.', json(ref('ContextList'))) },
  },
  'GET /management/sso': {
    summary: 'Identity providers, and why the latest sign-ons were refused.',
    answers: { 200: answer('The state of single sign-on.', json(ref('SsoStatus'))) },
  },
}
