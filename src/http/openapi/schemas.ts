import { ref, type Schema } from './operation.ts'

const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const count: Schema = { type: 'integer', minimum: 0 }
const uri: Schema = { type: 'string', format: 'uri' }
const time: Schema = { type: 'string', format: 'date-time' }
const list = (items: Schema): Schema => ({ type: 'array', items })
const map = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })

/** An object whose members are these and no others, so that an answer that says more than the document is found. */
function object(required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  }
}

/** A portion of a list. */
const portionOf = (name: string, items: Schema): Schema =>
  object({ [name]: list(items), results: count, limit: count, offset: count })

/** A point of time in UTC without a zone, with six fraction digits (interface 2.3). */
const zonelessTime: Schema = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}$' }

const entryMembers: Readonly<Record<string, Schema>> = {
  name: text,
  alias: text,
  disabled: flag,
  quota: ref('Quota'),
  size: count,
  truncated: flag,
  metadata: ref('Graph'),
  'cached-external-metadata': ref('Graph'),
  relations: ref('Graph'),
  rights: list({ enum: ['administer', 'readmetadata', 'writemetadata', 'readresource', 'writeresource'] }),
}

export const schemas: Readonly<Record<string, Schema>> = {
  Json: { description: 'Any JSON.' },
  Problem: {
    description: 'Why a request was refused (RFC 9457). `code` is stable; errors.md has all of them.',
    type: 'object',
    properties: { type: text, title: text, status: { type: 'integer' }, detail: text, code: text, error: text },
    required: ['type', 'title', 'status', 'detail', 'code', 'error'],
  },
  Graph: {
    description: 'An RDF graph in RDF/JSON: subject, predicate, objects. As JSON-LD where `rdfFormat` asked for it.',
    type: 'object',
  },
  CurrentUser: object(
    { id: text, user: text, clientAcceptLanguage: map({ type: 'number' }) },
    { uri, language: text, homecontext: text, authTokenExpires: text },
  ),
  Logins: map(
    object({
      loginTime: zonelessTime,
      loginExpiration: zonelessTime,
      inetAddress: { type: 'string', pattern: '^/' },
      lastAccess: zonelessTime,
      userAgent: text,
      userName: text,
    }),
  ),
  Quota: object({ quota: { type: 'integer', minimum: -1 }, fillLevel: count, hasDefaultQuota: flag }),
  Entry: object({ entryId: text, info: ref('Graph') }, { ...entryMembers, resource: ref('Json') }),
  Hit: object({ entryId: text, contextId: text, info: ref('Graph') }, entryMembers),
  SearchResult: object({
    resource: object({ children: list(ref('Hit')) }),
    results: count,
    limit: count,
    offset: count,
    facetFields: list(
      object({
        name: text,
        valueCount: count,
        values: list(object({ name: { type: ['string', 'null'] }, count })),
      }),
    ),
  }),
  Created: object({ entryId: text }, { format: text, size: count, sha256: text }),
  Name: object({ name: text }),
  StoredFile: object({
    success: text,
    format: text,
    size: count,
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  }),
  Context: object({ contextId: text }, { name: text, alias: text, quota: ref('Quota') }),
  WritableContexts: portionOf(
    'contexts',
    object(
      { contextId: text, rights: entryMembers['rights'] ?? text },
      { name: text, quota: ref('Quota'), metadata: ref('Graph') },
    ),
  ),
  UserList: portionOf(
    'users',
    object({ id: text, disabled: flag, hasPassword: flag }, { name: text, homecontext: text, lockedUntil: time }),
  ),
  GroupList: portionOf('groups', object({ id: text, members: count }, { name: text })),
  ContextList: portionOf(
    'contexts',
    object({ contextId: text }, { name: text, quota: ref('Quota'), metadata: ref('Graph') }),
  ),
  PasswordRules: object({
    maxLength: count,
    rules: list(object({ name: text, kind: text }, { value: { type: ['integer', 'string'] } })),
  }),
  Ids: list(text),
  Root: object({ service: text, version: text, repositoryStatus: text, baseURI: uri }),
  Status: {
    type: 'object',
    properties: { version: text, repositoryStatus: text, baseURI: uri, startupTime: time, quota: flag },
    required: ['version', 'repositoryStatus'],
  },
  Lockouts: object({ lockouts: list(object({ id: text, user: text, failures: count, lockedUntil: time })) }),
  AuditTrail: object({
    events: list(
      object(
        { time, event: text, detail: map({ type: ['string', 'number'] }) },
        { userId: text, userName: text, actorId: text, address: text },
      ),
    ),
  }),
  SsoStatus: object(
    { saml: list({ type: 'object' }), failures: list({ type: 'object' }) },
    { cas: { type: 'object' } },
  ),
  Readiness: object({ ready: flag, checks: map({ enum: ['up', 'down'] }) }),
}
