import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Answer, Visitor } from './http-client.ts'
import { newEntry, type Service } from './service.ts'
import { putFile } from './uploads.ts'

export interface NewLink {
  readonly id: string
  readonly secret: string
  readonly url: string
}

export interface LinkRequest {
  readonly name?: unknown
  readonly password?: unknown
  readonly expires?: unknown
  readonly maxDownloads?: unknown
}

/** Creates a public link to an entry. */
export async function newLink(
  owner: Visitor,
  context: string,
  entry: string,
  wish: LinkRequest = {},
): Promise<NewLink> {
  const answer = await owner.post(`${context}/links/${entry}`, wish)
  assert.equal(answer.status, 201, answer.text)
  return answer.json<NewLink>()
}

/** Creates an entry with a file. @param query where it goes */
export async function newFile(
  owner: Visitor,
  context: string,
  { name, bytes, list }: { readonly name: string; readonly bytes: string; readonly list?: string },
): Promise<string> {
  const query = list === undefined ? '' : `?list=${encodeURIComponent(`${owner.base}${context}/resource/${list}`)}`
  const id = await newEntry(owner, context, query)
  const headers = { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` }
  assert.equal((await putFile(owner, `${context}/resource/${id}`, bytes, headers)).status, 201)
  return id
}

export interface Opened {
  readonly link: string
  readonly item: {
    readonly id: string
    readonly name: string
    readonly kind: string
    readonly size?: number
    readonly modified?: string
  }
  readonly expires?: string
  readonly downloadsLeft?: number
}

/** Opens a link as somebody without an account, from an address of their own if wished. */
export const openLink = (
  service: Service,
  { secret }: Pick<NewLink, 'secret'>,
  password?: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> =>
  service
    .visitor()
    .ask('auth/link', { method: 'POST', json: { secret, ...(password === undefined ? {} : { password }) }, headers })

/** A visitor who has opened a link: requests below `auth/link/<id>/`, with the cookie of the link. */
export class LinkVisitor {
  readonly opened: Opened
  readonly cookie: string
  readonly #service: Service

  private constructor(service: Service, opened: Opened, cookie: string) {
    this.#service = service
    this.opened = opened
    this.cookie = cookie
  }

  static async at(service: Service, link: Pick<NewLink, 'secret'>, password?: string): Promise<LinkVisitor> {
    const answer = await openLink(service, link, password)
    assert.equal(answer.status, 200, answer.text)
    const [cookie = ''] = (answer.headers['set-cookie'] ?? [])[0]?.split(';') ?? []
    return new LinkVisitor(service, answer.json<Opened>(), cookie)
  }

  ask(
    path: string,
    { method = 'GET', headers = {} }: { method?: string; headers?: OutgoingHttpHeaders } = {},
  ): Promise<Answer> {
    const all = { cookie: this.cookie, ...headers }
    return this.#service.visitor().ask(`auth/link/${this.opened.link}/${path}`, { method, headers: all })
  }

  file(id = this.opened.item.id, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
    return this.ask(`files/${id}`, { headers })
  }

  async names(folder?: string): Promise<string[]> {
    const answer = await this.ask(`members${folder === undefined ? '' : `?folder=${folder}`}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ items: { name: string }[] }>().items.map(({ name }) => name)
  }
}
