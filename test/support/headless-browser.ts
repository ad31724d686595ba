import { type Answer, ask } from './http-client.ts'

export interface Step {
  readonly method: string
  readonly url: string
  /** What was posted, if anything was. */
  readonly form?: Readonly<Record<string, string>>
  readonly answer: Answer
}

/** Where a navigation ended, and how it got there. */
export interface Page {
  readonly url: string
  readonly answer: Answer
  readonly trail: readonly Step[]
}

export interface Form {
  readonly action: string
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
}

interface Cookie {
  readonly host: string
  readonly path: string
  readonly name: string
  readonly value: string
  readonly sameSite: 'strict' | 'lax' | 'none' | undefined
}

interface Navigation {
  readonly form?: Readonly<Record<string, string>>
  /** The page that asked for it; none when a person typed the address. */
  readonly from?: Page | undefined
}

/** Navigates like a browser without scripts: redirects, forms, and cookies by host, path and SameSite. */
export class HeadlessBrowser {
  #cookies: readonly Cookie[] = []

  /** Opens an address as if typed, or as a link followed on the page `from`. */
  async visit(url: string, from?: Page): Promise<Page> {
    return this.#navigate(url, { from })
  }

  /** Submits a form of `page` with some fields filled in. */
  async submit(
    page: Page,
    { action, method, fields }: Form,
    filled: Readonly<Record<string, string>> = {},
  ): Promise<Page> {
    const form = { ...fields, ...filled }
    if (method === 'POST') return this.#navigate(action, { from: page, form })
    const target = new URL(action)
    target.search = new URLSearchParams(form).toString()
    return this.#navigate(target.href, { from: page })
  }

  /** The cookies that a host has set, by name, whatever its port and their path. */
  cookies(host: string): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#cookies.filter(one => one.host === host).map(({ name, value }) => [name, value]))
  }

  async #navigate(start: string, { form: posted, from }: Navigation): Promise<Page> {
    const trail: Step[] = []
    let url = start
    let form = posted
    let site = 'none'
    for (;;) {
      if (trail.length === 20) throw new Error(`redirected without end: ${trail.map(step => step.url).join(' → ')}`)
      const method = form ? 'POST' : 'GET'
      site = from === undefined ? 'none' : farther(site, relation(from.url, url))
      const answer = await ask(url, { method, form, headers: this.#headers(url, { from, site, method }) })
      this.#keep(url, answer)
      trail.push({ method, url, ...(form ? { form } : {}), answer })
      const { location } = answer.headers
      if (location === undefined || answer.status < 300 || answer.status > 399) return { url, answer, trail }
      url = new URL(location, url).href
      if (answer.status !== 307 && answer.status !== 308) form = undefined
    }
  }

  #headers(url: string, { from, site, method }: { from: Page | undefined; site: string; method: string }) {
    const { hostname, pathname } = new URL(url)
    // Where the navigation came from counts to its end: a redirect does not make it the target's own.
    const foreign = from !== undefined && relation(from.url, url) === 'cross-site'
    const cookie = this.#cookies
      .filter(one => one.host === hostname && covers(one.path, pathname) && (!foreign || crosses(one, method)))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    return {
      accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'accept-language': 'en',
      'sec-fetch-site': site,
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'sec-fetch-user': '?1',
      ...(method === 'POST' && from !== undefined ? { origin: originOf(from, url) } : {}),
      ...(cookie === '' ? {} : { cookie }),
    }
  }

  #keep(url: string, answer: Answer): void {
    const { hostname, pathname } = new URL(url)
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = '', ...rest] = line.split(';')
      const attributes = new Map(
        rest.map(part => splitAt(part, '=')).map(([name, value]) => [name.toLowerCase(), value]),
      )
      const [name, value] = splitAt(pair, '=')
      const path = attributes.get('path')?.startsWith('/') ? attributes.get('path') : undefined
      const cookie: Cookie = {
        host: hostname,
        path: path ?? (pathname.slice(0, pathname.lastIndexOf('/')) || '/'),
        name,
        value,
        sameSite: sameSite(attributes.get('samesite')),
      }
      const others = this.#cookies.filter(
        one => !(one.host === hostname && one.path === cookie.path && one.name === name),
      )
      this.#cookies = isOver(attributes) ? others : [...others, cookie]
    }
  }
}

/** The Origin header of a POST: a page that hides its address from others hides this too. */
function originOf({ url, answer }: Page, target: string): string {
  const policy = answer.headers['referrer-policy']
  const hidden = policy === 'no-referrer' || (policy === 'same-origin' && relation(url, target) !== 'same-origin')
  return hidden ? 'null' : new URL(url).origin
}

/** The first form of a page that has all of these fields. */
export function findForm({ url, answer }: Page, ...names: readonly string[]): Form | undefined {
  return [...answer.text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gis)]
    .map(([, tag = '', content = '']) => {
      const attributes = attributesOf(tag)
      const inputs = [...content.matchAll(/<input\b([^>]*)>/gis)].map(([, input = '']) => attributesOf(input))
      return {
        action: new URL(attributes['action'] ?? url, url).href,
        method: (attributes['method'] ?? 'get').toUpperCase(),
        // A box that nobody ticked and a button that nobody pressed are not sent.
        fields: Object.fromEntries(
          inputs
            .filter(({ type = 'text' }) => !['checkbox', 'radio', 'submit', 'button'].includes(type))
            .flatMap(({ name, value = '' }) => (name === undefined ? [] : [[name, value]])),
        ),
      }
    })
    .find(form => names.every(name => name in form.fields))
}

function attributesOf(tag: string): Record<string, string> {
  const found = tag.matchAll(/([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)
  return Object.fromEntries(
    [...found].map(([, name = '', double, single, bare]) => [
      name.toLowerCase(),
      decode(double ?? single ?? bare ?? ''),
    ]),
  )
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decode(text: string): string {
  return text.replaceAll(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name = '') => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    return entities[name as string] ?? whole
  })
}

/** How a page's address and a target are related, in the words of Sec-Fetch-Site. A site has no port. */
function relation(from: string, to: string): 'same-origin' | 'same-site' | 'cross-site' {
  const [a, b] = [new URL(from), new URL(to)]
  if (a.origin === b.origin) return 'same-origin'
  return a.protocol === b.protocol && a.hostname === b.hostname ? 'same-site' : 'cross-site'
}

const distances = ['none', 'same-origin', 'same-site', 'cross-site']
const farther = (a: string, b: string): string => (distances.indexOf(a) > distances.indexOf(b) ? a : b)

const covers = (path: string, pathname: string): boolean =>
  pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)

/** Whether a cookie goes along on a navigation that another site started. */
function crosses({ sameSite }: Cookie, method: string): boolean {
  // Chromium sends a cookie without the attribute with such a POST too in its first two minutes; no test takes longer.
  if (sameSite === undefined || sameSite === 'none') return true
  return sameSite === 'lax' && method === 'GET'
}

function sameSite(value: string | undefined): Cookie['sameSite'] {
  const lower = value?.toLowerCase()
  return lower === 'strict' || lower === 'lax' || lower === 'none' ? lower : undefined
}

function isOver(attributes: ReadonlyMap<string, string>): boolean {
  const maxAge = attributes.get('max-age')
  if (maxAge !== undefined) return Number(maxAge) <= 0
  const expires = attributes.get('expires')
  return expires !== undefined && Date.parse(expires) <= Date.now()
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
