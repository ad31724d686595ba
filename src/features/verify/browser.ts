import { type Answer, Client, cookiesOf } from './client.ts'
import { CannotCheck } from './outcome.ts'

/** A user of an identity provider, for tests. */
export interface ProviderUser {
  /** Where the sign-on begins, below the base address: `auth/oidc`, `auth/saml?idp=NAME`, `auth/cas`. */
  readonly start: string
  readonly name: string
  readonly password: string
}

interface Page {
  readonly url: URL
  readonly answer: Answer
}

interface Form {
  readonly action: URL
  readonly method: string
  readonly inputs: readonly Input[]
}

type Input = Readonly<Record<string, string>>

/** A sign-on takes some ten redirects and forms. */
const MAX_STEPS = 30
const REDIRECTS = [301, 302, 303, 307, 308]

/** A browser without scripts: it takes a user from the service to its identity provider, and back. */
export class Browser {
  readonly #home: Client
  readonly #user: ProviderUser
  readonly #clients = new Map<string, Client>()
  /** By host, then by name. */
  readonly #cookies = new Map<string, Map<string, string>>()
  #steps = 0
  #asked: readonly string[] = []

  constructor(home: Client, user: ProviderUser) {
    this.#home = home
    this.#user = user
  }

  /** @returns the page on which it ends: of the service, or of the provider if this one asks for more */
  async signOn(): Promise<Page> {
    try {
      let page = await this.#open(new URL(this.#user.start, this.#home.base))
      for (;;) {
        const form = this.#nextForm(page)
        if (!form) return page
        page = await this.#submit(form)
      }
    } finally {
      for (const client of this.#clients.values()) client.close()
    }
  }

  /** The value of a cookie that the service has set. */
  cookie(name: string): string | undefined {
    return this.#cookies.get(this.#home.base.hostname)?.get(name)
  }

  /** Forms that a script would send, and those that ask for the name or the password, once each. The service itself gets neither. */
  #nextForm({ url, answer }: Page): Form | undefined {
    const forms = formsIn(answer.text, url)
    const handedOn = forms.find(({ method, inputs }) => method === 'POST' && inputs.every(isHidden))
    if (this.#isHome(url)) return handedOn && !this.#isHome(handedOn.action) ? handedOn : undefined
    if (handedOn) return handedOn
    const asking = forms.find(form => asks(form).length > 0)
    const asked = asking ? asks(asking) : []
    if (asked.every(what => this.#asked.includes(what))) return undefined
    this.#asked = [...this.#asked, ...asked]
    return asking
  }

  #isHome({ href }: URL): boolean {
    return href.startsWith(this.#home.base.href)
  }

  async #submit({ action, method, inputs }: Form): Promise<Page> {
    const { name, password } = this.#user
    const sent = inputs
      .filter(input => input['name'] !== undefined && !isButton(input))
      .map(input => {
        const value = isText(input) ? name : input['type'] === 'password' ? password : (input['value'] ?? '')
        return [input['name'] ?? '', value]
      })
    const form = Object.fromEntries(sent) as Record<string, string>
    if (method === 'POST') return await this.#open(action, form)
    return await this.#open(new URL(`?${new URLSearchParams(form).toString()}`, action))
  }

  /** Follows redirects. @throws {CannotCheck} */
  async #open(url: URL, form?: Readonly<Record<string, string>>): Promise<Page> {
    if (++this.#steps > MAX_STEPS) throw new CannotCheck(`the sign-on does not end within ${MAX_STEPS} steps`)
    const cookie = [...(this.#cookies.get(url.hostname) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      ...(cookie === '' ? {} : { cookie }),
    }
    const answer = await this.#clientFor(url).ask(url.pathname + url.search, { headers, ...(form && { form }) })
    this.#keep(url, answer)
    const { location } = answer.headers
    if (location === undefined || !REDIRECTS.includes(answer.status)) return { url, answer }
    const isRepeated = answer.status === 307 || answer.status === 308
    return await this.#open(new URL(location, url), isRepeated ? form : undefined)
  }

  #clientFor({ origin }: URL): Client {
    const isHome = origin === this.#home.base.origin
    const { ca } = this.#home.connection
    const client = this.#clients.get(origin) ?? new Client(new URL(origin), isHome ? this.#home.connection : { ca })
    this.#clients.set(origin, client)
    return client
  }

  #keep({ hostname }: URL, answer: Answer): void {
    const jar = this.#cookies.get(hostname) ?? new Map<string, string>()
    this.#cookies.set(hostname, jar)
    for (const line of cookiesOf(answer)) {
      const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line) ?? []
      if (/;\s*max-age=0/i.test(line) || value === '') jar.delete(name)
      else jar.set(name, value)
    }
  }
}

const typeOf = (input: Input): string => (input['type'] ?? 'text').toLowerCase()
const isButton = (input: Input): boolean =>
  ['submit', 'button', 'image', 'reset', 'checkbox', 'radio'].includes(typeOf(input))
const isHidden = (input: Input): boolean => typeOf(input) === 'hidden' || isButton(input)
const isText = (input: Input): boolean => ['text', 'email'].includes(typeOf(input))

/** What a form asks for, of what is known. */
const asks = ({ inputs }: Form): readonly string[] => [
  ...(inputs.some(isText) ? ['name'] : []),
  ...(inputs.some(input => typeOf(input) === 'password') ? ['password'] : []),
]

const formsIn = (html: string, page: URL): readonly Form[] =>
  [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gis)].flatMap(([, tag = '', content = '']) => {
    const { action = '', method = 'get' } = attributesOf(tag)
    if (!URL.canParse(action, page.href)) return []
    const inputs = [...content.matchAll(/<input\b([^>]*)>/gis)].map(([, input = '']) => attributesOf(input))
    return [{ action: new URL(action, page), method: method.toUpperCase(), inputs }]
  })

function attributesOf(tag: string): Readonly<Record<string, string>> {
  const found = tag.matchAll(/([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)
  return Object.fromEntries(
    [...found].map(([, name = '', double, single, bare]) => [
      name.toLowerCase(),
      decoded(double ?? single ?? bare ?? ''),
    ]),
  )
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decoded = (text: string): string =>
  text.replaceAll(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name = '') => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    return entities[name as string] ?? whole
  })
