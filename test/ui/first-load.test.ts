import assert from 'node:assert/strict'
import type { Page, Route } from 'playwright-core'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import { type Chromium } from '../support/peers/chromium.ts'
import { enter, newPerson, openBrowser } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService()
const context = await newContext(admin, [id])
await store(context, 'kept.txt')

/** The requests of a page, each held until it is released. */
class HeldRequests {
  readonly urls: string[] = []
  #waiting: Route[] = []
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  async begin(): Promise<void> {
    await this.#page.route('**/*', route => {
      this.urls.push(route.request().url())
      this.#waiting.push(route)
    })
  }

  /** Lets everything through that is held now, once addresses with all of these parts have been requested. */
  async releaseWith(parts: readonly string[]): Promise<void> {
    const isRequested = (part: string): boolean => this.urls.some(url => url.includes(part))
    await eventually(`requests of ${parts.join(', ')}`, () => parts.every(isRequested))
    const released = this.#waiting
    this.#waiting = []
    await Promise.all(released.map(route => route.continue()))
  }

  /** Ends what is still held, so that the page can be closed. */
  async end(): Promise<void> {
    await Promise.all(this.#waiting.map(route => route.abort().catch(() => undefined)))
  }
}

/** What the HTML of a page names: scripts, style and data. The icon is for the bar of the browser, which fetches it when it likes. */
async function namedIn(page: Page, url: string): Promise<string[]> {
  const language = await page.evaluate(() => navigator.language)
  const html = await (await page.request.get(url, { headers: { 'accept-language': language } })).text()
  const named = [...html.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]*)"/g)]
  return named.map(([, found = '']) => new URL(found.replaceAll('&#38;', '&'), url).href).filter(isNoIcon)
}

const isNoIcon = (url: string): boolean => !url.endsWith('.svg')

/**
 * Opens a page, and answers its requests in rounds: what is requested after a round has been released waits for the next one. Whatever needs
 * more rounds never appears.
 */
async function openInRounds(page: Page, path: string, sign: string, rounds: readonly string[] = []): Promise<string[]> {
  const url = service.base + path
  const named = await namedIn(page, url)
  const held = new HeldRequests(page)
  await held.begin()
  const opened = page.goto(url, { waitUntil: 'commit' })
  await held.releaseWith([url])
  await opened
  await held.releaseWith(named)
  for (const part of rounds) await held.releaseWith([part])
  await page.waitForSelector(sign)
  await held.end()
  const urls = held.urls.filter(isNoIcon)
  assert.deepEqual(urls, [...new Set(urls)], 'nothing is requested twice')
  return urls
}

async function newUserPage(b: Chromium, locale = 'en-GB') {
  const person = await newPerson(b, { locale })
  await enter(person.page, service.base, name, GOOD_PASSWORD, 'ui/nowhere')
  return person
}

for (const locale of ['en-GB', 'sv-SE']) {
  inBrowser(`the first page is there after two round trips, the page and all that it names: ${locale}`, async b => {
    const { page, close } = await newUserPage(b, locale)
    const urls = await openInRounds(page, 'ui/', '.tile')
    const data = urls.filter(url => !url.includes('/assets/'))
    assert.deepEqual(new Set(data), new Set(['ui/', ...firstData].map(path => service.base + path)))
    await close()
  })
}

const firstData = ['auth/user', 'auth/user/contexts?access=write&limit=50&offset=0']

inBrowser('the sign-in page is there after two round trips', async b => {
  const { page, close } = await newPerson(b)
  await openInRounds(page, 'auth/login', '[name=auth_username]:focus')
  await close()
})

inBrowser('a page of files that is opened directly is there after three round trips', async b => {
  const { page, close } = await newUserPage(b)
  await openInRounds(page, `ui/contexts/${context}/files`, 'tbody .menu', ['/search?'])
  await close()
})
