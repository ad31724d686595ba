/** A signed-in client of the HTTP interface. Every method throws if the service refuses. */
export class Visitor {
  readonly #base: string
  readonly #cookie: string

  private constructor(base: string, cookie: string) {
    this.#base = base
    this.#cookie = cookie
  }

  static async signIn(base: string, name: string, password: string): Promise<Visitor> {
    const body = new URLSearchParams({ auth_username: name, auth_password: password })
    const answer = await fetch(new URL('auth/cookie', base), {
      method: 'POST',
      body,
      headers: { accept: 'application/json' },
    })
    await requireOk(answer)
    const cookies = answer.headers.getSetCookie().map(cookie => cookie.split(';', 1)[0])
    return new Visitor(base, cookies.join('; '))
  }

  /** The absolute address of a path of the interface. */
  at(path: string): string {
    return new URL(path, this.#base).href
  }

  async get(path: string): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#send('GET', path, null, { accept: 'application/json' })
    return (await answer.json()) as Readonly<Record<string, unknown>>
  }

  async post(path: string, body: unknown = {}): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#send('POST', path, JSON.stringify(body), { 'content-type': 'application/json' })
    return (await answer.json()) as Readonly<Record<string, unknown>>
  }

  /** Creates an entry, and returns its id. */
  async create(path: string, body: unknown = {}): Promise<string> {
    return String((await this.post(path, body))['entryId'])
  }

  async put(path: string, body: unknown): Promise<void> {
    await this.#send('PUT', path, JSON.stringify(body), { 'content-type': 'application/json' })
  }

  async upload(path: string, { name, type, bytes }: DemoFile): Promise<void> {
    await this.#send('PUT', path, bytes, {
      'content-type': type,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
    })
  }

  async #send(
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer> | null = null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const answer = await fetch(this.at(path), { method, body, headers: { ...headers, cookie: this.#cookie } })
    await requireOk(answer)
    return answer
  }
}

export interface DemoFile {
  readonly name: string
  /** Media type. */
  readonly type: string
  readonly bytes: string | Uint8Array<ArrayBuffer>
}

async function requireOk(answer: Response): Promise<void> {
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`)
}
