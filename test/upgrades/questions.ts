import { createHash } from 'node:crypto'

/** Users of the fixtures with their passwords. */
export const passwords = { admin: 'admin-Password-12', anna: 'Anna-Password-12', bert: 'Bert-Password-12' } as const

export type Who = keyof typeof passwords | 'guest'

export interface Reply {
  readonly status: number
  readonly type?: string
  /** What JSON says, with `base:/` for the base address. */
  readonly json?: unknown
  /** SHA-256 of any other body. */
  readonly sha256?: string
}

/** A caller who works with the interface of any build. */
export class Caller {
  readonly base: string
  #headers: Record<string, string> = {}

  constructor(base: string) {
    this.base = base
  }

  async send(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Reply> {
    const absolute = JSON.stringify(body)?.replaceAll('base:/', this.base)
    const answer = await fetch(this.base + path, {
      method,
      redirect: 'manual',
      headers: {
        accept: 'text/plain, application/json, application/problem+json',
        ...this.#headers,
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : (absolute ?? '') }),
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const media = (answer.headers.get('content-type') ?? '').split(';')[0] ?? ''
    const cookie = answer.headers.getSetCookie().find(line => /^auth_token=[^;]/.test(line))
    if (cookie !== undefined) this.#headers['cookie'] = cookie.split(';')[0] ?? ''
    const isJson = media.endsWith('json') && bytes.length > 0
    if (answer.status >= 400) return { status: answer.status }
    return {
      status: answer.status,
      type: media,
      ...(isJson
        ? { json: JSON.parse(bytes.toString().replaceAll(this.base, 'base:/')) as unknown }
        : { sha256: createHash('sha256').update(bytes).digest('hex') }),
    }
  }

  /** @returns the status */
  async signIn(name: string, password: string): Promise<number> {
    const form = new URLSearchParams({ auth_username: name, auth_password: password }).toString()
    return (await this.send('POST', 'auth/cookie', form, 'application/x-www-form-urlencoded')).status
  }

  get cookie(): string | undefined {
    return this.#headers['cookie']
  }

  /** Goes on with the session of another caller. */
  useCookie(cookie: string): this {
    this.#headers = { cookie }
    return this
  }

  useToken(token: string): this {
    this.#headers = { authorization: `Bearer ${token}` }
    return this
  }
}

const entries = ['one', 'two', 'note', 'graph', 'link', 'reference', 'album', 'gone'].map(
  id => `photos/entry/${id}?includeAll`,
)
const others = ['_principals/entry/anna', '_principals/entry/bert', '_principals/entry/carl', '_principals/entry/team']
  .concat('_contexts/entry/photos', '_contexts/entry/open')
  .map(path => `${path}?includeAll`)
const resources = ['one', 'two', 'note', 'graph', 'link', 'album', 'gone'].map(id => `photos/resource/${id}`)
const principals = ['anna', 'bert', 'carl', 'team'].map(id => `_principals/resource/${id}`)
const rest = [
  'photos',
  'open',
  'photos/quota',
  'open/quota',
  'photos/metadata/one',
  'photos/relations/one',
  'open/resource/public',
]
/** Of builds that have them. */
const later = [
  'photos/trash',
  'photos/metadata/one?rev=1',
  'photos/metadata/one?rev=2',
  'auth/access-tokens',
  'auth/links',
  'photos/links/two',
]

const paths = [...entries, ...others, ...resources, ...principals, ...rest, ...later]

const queries = ['title:sunrise', 'username:anna', 'graphType:List', 'description:harbour']

/** What a search has found, without what the entries say. */
function hitsOf(reply: Reply): Reply {
  const { resource, results } = reply.json as {
    resource: { children: ReadonlyArray<{ readonly contextId: string; readonly entryId: string }> }
    results: number
  }
  const found = resource.children.map(({ contextId, entryId }) => `${contextId}/${entryId}`)
  return { ...reply, json: { results, found: found.sort() } }
}

export const AUDIT = 'management/audit?limit=100'

export interface Expected {
  /** Statuses of sign-ins. */
  readonly signIn: Readonly<Record<string, number>>
  readonly replies: Readonly<Record<Who, Readonly<Record<string, Reply>>>>
  readonly accessToken?: { readonly token: string; readonly reply: Reply }
  /** A session that has not ended, in stores that keep sessions. */
  readonly session?: { readonly cookie: string; readonly reply: Reply }
  /** The latest event first. */
  readonly audit: unknown
}

/** What only anna may read. */
const OWN = 'photos/resource/one'

/** Asks a service everything that an upgrade must keep, with an access token and a session from before. */
export async function askAll(
  base: string,
  { token, cookie }: { readonly token?: string | undefined; readonly cookie?: string | undefined },
): Promise<Expected> {
  const callers = { guest: new Caller(base), admin: new Caller(base), anna: new Caller(base), bert: new Caller(base) }
  const signIn: Record<string, number> = {}
  for (const who of ['admin', 'anna', 'bert'] as const) signIn[who] = await callers[who].signIn(who, passwords[who])
  signIn['carl, who is disabled'] = await new Caller(base).signIn('carl', 'Carl-Password-12')
  signIn['anna with a wrong password'] = await new Caller(base).signIn('anna', 'Wrong-Password-12')
  const replies: Record<string, Record<string, Reply>> = {}
  for (const [who, caller] of Object.entries(callers)) {
    const own: Record<string, Reply> = (replies[who] = {})
    for (const path of paths) own[path] = await caller.send('GET', path)
    for (const query of queries) own[query] = hitsOf(await caller.send('GET', `search?type=solr&query=${query}`))
  }
  return {
    signIn,
    replies: replies as Expected['replies'],
    ...(token === undefined
      ? {}
      : { accessToken: { token, reply: await new Caller(base).useToken(token).send('GET', OWN) } }),
    ...(cookie === undefined
      ? {}
      : { session: { cookie, reply: await new Caller(base).useCookie(cookie).send('GET', OWN) } }),
    audit: (await callers.admin.send('GET', AUDIT)).json,
  }
}
