import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { atProcessEnd } from './after.ts'
import { START } from './fake-system.ts'
import { type Chromium, chromium, type Kind, startChromium } from './peers/chromium.ts'
import { requirePeer } from './peers/peer.ts'
import { repository } from './service.ts'
import { TIMEOUT } from './waiting.ts'

const shared = new Map<Kind, Promise<Chromium>>()

/**
 * Begins the tests of a file that share one browser, with the tests of other files that run in this process. Without a browser they are
 * skipped, or fail where nothing may be skipped.
 */
export async function openBrowser(
  kind: Kind = 'light',
): Promise<(title: string, work: (browser: Chromium) => Promise<void>) => void> {
  const start = (): Promise<Chromium> => startChromium({ after: atProcessEnd }, [], kind)
  const browser = chromium.available() ? await (shared.get(kind) ?? shared.set(kind, start()).get(kind)) : undefined
  return (title, work) => {
    test(title, async t => {
      if (requirePeer(t, chromium) && browser) await work(browser)
    })
  }
}

/** A user with their own browser, in a window with one page. */
export interface Person {
  readonly page: Page
  /** Complaints of the browser, except about responses with the allowed statuses. */
  readonly complaints: readonly string[]
  readonly close: () => Promise<void>
}

interface Wishes extends BrowserContextOptions {
  /** Statuses that are part of the test: browsers log every refused request to the console. */
  readonly refusals?: readonly number[]
}

export const phone = { viewport: { width: 390, height: 844 } } as const
export const desktop = { viewport: { width: 1280, height: 900 } } as const
/** A window of 1280 pixels at 200 %. */
export const zoomed = { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 } as const

/** A new visitor: no cookies, by default English and light. The pages begin at the time of the service under test. */
export async function newPerson({ browser }: Chromium, { refusals = [], ...options }: Wishes = {}): Promise<Person> {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(TIMEOUT)
  await context.addInitScript(beginAt, START)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => {
    if (!['error', 'warning'].includes(message.type())) return
    // How soon a page uses what was fetched early depends on the machine; that it does so is tested by `first-load`.
    if (/was preloaded using link preload but not used/.test(message.text())) return
    const status = /Failed to load resource: the server responded with a status of (\d+)/.exec(message.text())?.[1]
    if (status === undefined || !refusals.includes(Number(status))) complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(error.message))
  return { page, complaints, close: () => context.close() }
}

/** Lets the clock of a page begin at `start`, whatever day it is. Playwright's clock would replace the timers too. */
function beginAt(start: number): void {
  const RealDate = Date
  const by = start - RealDate.now()
  const now = (): number => RealDate.now() + by
  globalThis.Date = new Proxy(RealDate, {
    construct: (_, parts, target) => Reflect.construct(RealDate, parts.length === 0 ? [now()] : parts, target) as Date,
    get: (_, name) => (name === 'now' ? now : (Reflect.get(RealDate, name) as unknown)),
  })
}

/** Signs in without the form, which has tests of its own, and opens a page of the application. */
export async function enter(page: Page, base: string, name: string, password: string, path = 'ui/'): Promise<void> {
  const form = { auth_username: name, auth_password: password }
  const response = await page.request.post(`${base}auth/cookie`, { form, headers: { accept: 'application/json' } })
  assert.equal(response.status(), 200, await response.text())
  await page.goto(base + path)
  await page.waitForSelector('main h1')
}

/** Signs in by the form, as people do, and waits for the first page. */
export async function signIn(page: Page, base: string, name: string, password: string): Promise<void> {
  await page.goto(`${base}auth/login`)
  await sendPassword(page, name, password)
  await page.waitForURL(`${base}ui/`)
  await page.waitForSelector('main h1')
}

export async function sendPassword(page: Page, name: string, password: string): Promise<void> {
  await page.fill('[name=auth_username]', name)
  await page.fill('[name=auth_password]', password)
  await page.click('form:has([name=auth_password]) button')
}

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
}

/** The rules of axe whose outcome depends on colours. */
const ABOUT_COLOURS = { runOnly: ['color-contrast', 'link-in-text-block'] }

/** Presses Escape and waits until the open dialog has gone. */
export async function escape(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  await page.locator('dialog').first().waitFor({ state: 'detached' })
}

/** Fails when axe finds anything on the page that keeps people out of it, in light colours or in dark ones. */
export async function requireAccessible(page: Page): Promise<void> {
  await page.evaluate(await axe)
  const isForced = await page.evaluate(() => matchMedia('(forced-colors: active)').matches)
  // There the system chooses the colours, and axe reads those that the page would have.
  await requireNothingFound(page, isForced ? { rules: { 'color-contrast': { enabled: false } } } : {})
  assert.deepEqual(await smallTargets(page), [], page.url())
  if (isForced) return
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' })
  await requireNothingFound(page, ABOUT_COLOURS)
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' })
}

interface Shifting {
  layoutShift?: number
}

/** Adds up how far things move by themselves on the pages that are opened from now on. */
export const watchShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const shifting = window as Shifting
    shifting.layoutShift = 0
    new PerformanceObserver(list => {
      for (const entry of list.getEntries())
        shifting.layoutShift = (shifting.layoutShift ?? 0) + (entry as unknown as { value: number }).value
    }).observe({ type: 'layout-shift', buffered: true })
  })

/** The cumulative layout shift of the page since it was opened. */
export const shiftOf = (page: Page): Promise<number> =>
  page.evaluate(() => (window as Shifting).layoutShift ?? Number.POSITIVE_INFINITY)

/** Controls that are smaller than 24 by 24 pixels (WCAG 2.5.8). Links in running text are exempt; the label of a check box is part of it. */
const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const MIN = 24
    const controls = document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, [role=menuitem]')
    return [...controls].flatMap(control => {
      const isText = control.matches('a') && control.closest('p, .hint, .lead, li.prose') !== null
      const { width, height } = (control.closest('label') ?? control).getBoundingClientRect()
      const isShown = control.checkVisibility() && width > 0 && height > 0
      if (!isShown || isText || control.matches('.skip') || (width >= MIN - 0.5 && height >= MIN - 0.5)) return []
      return [`${Math.round(width)} x ${Math.round(height)}: ${control.outerHTML.slice(0, 120)}`]
    })
  })

async function requireNothingFound(page: Page, options: object): Promise<void> {
  const given = JSON.stringify({ ...options, resultTypes: ['violations'] })
  const found = await page.evaluate<readonly Finding[]>(`axe.run(${given}).then(({ violations }) => violations)`)
  const violations = found.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  assert.deepEqual(violations, [], page.url())
}

/** Saves a picture of the window in `screenshots/`, for the documentation. */
export const viewPicture = (page: Page, name: string): Promise<void> => takePicture(page, name, false)

/** Saves a picture of the whole page in `screenshots/`. */
export const picture = (page: Page, name: string): Promise<void> => takePicture(page, name, true)

/** Only with `PICTURES=1`: a picture takes longer than most steps of a test. */
async function takePicture(page: Page, name: string, fullPage: boolean): Promise<void> {
  if (process.env['PICTURES'] === undefined) return
  const folder = join(repository, 'screenshots')
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage, animations: 'disabled', scale: 'css' })
}
