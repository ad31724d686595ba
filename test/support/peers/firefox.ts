import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../waiting.ts'
import type { Peer } from './peer.ts'
import { freePort, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

const program = '/usr/bin/firefox-esr'

export const firefox: Peer = { name: 'Firefox', available: () => existsSync(program) }

/** Firefox reaches nothing beyond loopback, and looks for no updates. */
const preferences = {
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'intl.accept_languages': 'en-GB',
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 1,
  'network.proxy.no_proxies_on': 'localhost, 127.0.0.1',
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 1,
  'network.proxy.type': 1,
  'toolkit.telemetry.enabled': false,
  'ui.prefersReducedMotion': 1,
} as const

type Parameters = Readonly<Record<string, unknown>>

interface Reply {
  readonly id?: number
  readonly type: 'success' | 'error' | 'event'
  readonly result?: unknown
  readonly error?: string
  readonly message?: string
  readonly method?: string
  readonly params?: { readonly level?: string; readonly text?: string; readonly type?: string }
}

/**
 * Sends commands of WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/). Playwright sends one for each new page that this Firefox does not
 * know (`emulation.setMediaFeaturesOverride`), so it cannot drive it.
 */
class Connection {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>()
  readonly complaints: string[] = []
  #last = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data)) as Reply))
  }

  static async open(url: string): Promise<Connection> {
    const socket = new WebSocket(url)
    await once(socket, 'open')
    return new Connection(socket)
  }

  send<T>(method: string, params: Parameters): Promise<T> {
    const id = ++this.#last
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject })
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }

  #receive({ id, type, result, error = '', message = '', method, params }: Reply): void {
    const isComplaint = params?.level === 'error' || params?.level === 'warn'
    if (method === 'log.entryAdded' && isComplaint) this.complaints.push(params?.text ?? '')
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (id === undefined || !waiting) return
    this.#waiting.delete(id)
    if (type === 'error') waiting.reject(new Error(`${error}: ${message}`))
    else waiting.resolve(result)
  }
}

interface Node {
  readonly sharedId: string
}

interface Evaluated {
  readonly type: 'success' | 'exception'
  readonly result?: { readonly value?: unknown }
  readonly exceptionDetails?: { readonly text: string }
}

/** What a person sees and does on a page. */
export class FirefoxPage {
  readonly #connection: Connection
  readonly #context: string

  constructor(connection: Connection, context: string) {
    this.#connection = connection
    this.#context = context
  }

  /** Errors and warnings in the console. */
  get complaints(): readonly string[] {
    return this.#connection.complaints
  }

  async goto(url: string): Promise<void> {
    await this.#send('browsingContext.navigate', { url, wait: 'complete' })
  }

  /** The text that is shown. */
  async text(): Promise<string> {
    return String(await this.#evaluate('document.body.innerText'))
  }

  async url(): Promise<string> {
    return String(await this.#evaluate('location.href'))
  }

  /** Red, green and blue in the middle of the image that a selector finds. */
  async colourOf(selector: string): Promise<string> {
    const { sharedId } = await this.#find({ type: 'css', value: selector }, selector)
    const read = `async image => {
      await image.decode()
      const draw = new OffscreenCanvas(3, 3).getContext('2d')
      draw.drawImage(image, 0, 0, 3, 3)
      return draw.getImageData(1, 1, 1, 1).data.slice(0, 3).join(' ')
    }`
    return String(await this.#evaluateOn({ sharedId }, read))
  }

  /** Waits until the page shows this text. */
  async shows(text: string): Promise<void> {
    await eventually(`the text "${text}"`, async () => (await this.text()).includes(text))
  }

  /** Clicks what has this role and name, as soon as it is there. */
  async click(role: string, name: string): Promise<void> {
    const node = await this.#find({ type: 'accessibility', value: { role, name } }, `${role} "${name}"`)
    const pointer = [
      { type: 'pointerMove', x: 0, y: 0, origin: { type: 'element', element: node } },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    await this.#evaluateOn(node, 'element => element.scrollIntoView({ block: "center" })')
    const actions = [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: pointer }]
    await this.#send('input.performActions', { actions })
  }

  /** Clicks a field and types into it, key by key. */
  async type(name: string, text: string, role = 'textbox'): Promise<void> {
    await this.click(role, name)
    await this.press(...text)
  }

  /** Types into the field that a selector finds, for fields without a role. */
  async typeInto(selector: string, text: string): Promise<void> {
    const node = await this.#find({ type: 'css', value: selector }, selector)
    await this.#evaluateOn(node, 'element => element.focus()')
    await this.press(...text)
  }

  async press(...keys: readonly string[]): Promise<void> {
    const strokes = keys.flatMap(value => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    await this.#send('input.performActions', { actions: [{ type: 'key', id: 'keyboard', actions: strokes }] })
  }

  /** Chooses files for the field that a selector finds. */
  async choose(selector: string, files: readonly string[]): Promise<void> {
    const element = await this.#find({ type: 'css', value: selector }, selector)
    await this.#send('input.setFiles', { element, files })
  }

  async #find(locator: Parameters, what: string): Promise<Node> {
    let found: Node | undefined
    await eventually(what, async () => {
      const { nodes } = await this.#send<{ readonly nodes: readonly Node[] }>('browsingContext.locateNodes', {
        locator,
        maxNodeCount: 1,
      })
      found = nodes[0]
      return found !== undefined
    })
    if (!found) throw new Error(`${what} is missing`)
    return { sharedId: found.sharedId }
  }

  async #evaluate(expression: string): Promise<unknown> {
    const target = { context: this.#context }
    const answer = await this.#connection.send<Evaluated>('script.evaluate', { expression, target, awaitPromise: true })
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails?.text)
    return answer.result?.value
  }

  async #evaluateOn(node: Node, functionDeclaration: string): Promise<unknown> {
    const target = { context: this.#context }
    const call = { functionDeclaration, target, arguments: [node], awaitPromise: true }
    const answer = await this.#connection.send<Evaluated>('script.callFunction', call)
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails?.text)
    return answer.result?.value
  }

  #send<T>(method: string, params: Parameters): Promise<T> {
    return this.#connection.send<T>(method, { context: this.#context, ...params })
  }
}

/** Real Firefox with a new profile and one page, closed after the test. */
export async function startFirefox(t: Test): Promise<FirefoxPage> {
  const port = await freePort()
  await startInNewFolder(t, async folder => {
    const lines = Object.entries(preferences).map(([key, value]) => `user_pref("${key}", ${JSON.stringify(value)});\n`)
    await writeFile(join(folder, 'user.js'), lines.join(''))
    return await startPeerProcess({
      command: program,
      args: ['--headless', '--no-remote', '--profile', folder, `--remote-debugging-port=${port}`],
      env: { HOME: folder },
      folder,
      ready: async () => (await readFile(join(folder, 'log'), 'utf8')).includes('WebDriver BiDi listening'),
    })
  })
  const connection = await Connection.open(`ws://127.0.0.1:${port}/session`)
  await connection.send('session.new', { capabilities: {} })
  await connection.send('session.subscribe', { events: ['log.entryAdded'] })
  const { contexts } = await connection.send<{ readonly contexts: ReadonlyArray<{ readonly context: string }> }>(
    'browsingContext.getTree',
    {},
  )
  return new FirefoxPage(connection, contexts[0]?.context ?? '')
}
