// What a person waits for in a long list and in a large upload, in Chromium on this machine: the first rows of 5,000 files, rows that
// are still placeholders after scrolling has stopped, layout shifts, and 500 files uploaded at once.
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { ask, interleave, isQuick, medianOf, newContext, ROUNDS, signIn, startService } from './support.mjs'

const CHROMIUM = '/usr/bin/chromium'
const FILES = isQuick ? 200 : 5000
const UPLOADS = isQuick ? 20 : 500
const AT_ONCE = 16
const STOPS = isQuick ? 2 : 10

export async function measure(say) {
  if (!existsSync(CHROMIUM)) {
    say('no Chromium')
    return { title: 'Long lists', rows: [], curves: [] }
  }
  const service = await startService()
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const headers = await signIn(service)
    const context = await newContext(service, headers)
    await fill(service, headers, context)
    const { lists } = await interleave(ROUNDS, { lists: () => openAndScroll(browser, service, headers, context) })
    const upload = await uploadMany(browser, service, headers)
    return {
      title: 'Long lists and large uploads in Chromium',
      rows: [
        {
          what: `first rows of ${FILES} files`,
          value: medianOf(lists, ({ ms }) => ms),
          unit: 'ms',
          goal: { most: 700 },
        },
        {
          what: 'longest time of a placeholder after scrolling stopped',
          value: Math.max(...lists.map(({ placeholder }) => placeholder)),
          unit: 'ms',
          goal: { most: 200 },
        },
        { what: 'layout shift', value: Math.max(...lists.map(({ shift }) => shift)), unit: '', goal: { most: 0.02 } },
        { what: `upload of ${UPLOADS} files`, value: upload.ms, unit: 'ms' },
        { what: 'most requests open during it', value: upload.open, unit: 'requests', goal: { most: 8 } },
      ],
      curves: [],
    }
  } finally {
    await browser.close()
    await service.stop()
  }
}

async function fill(service, headers, context) {
  let next = 0
  const work = async () => {
    while (next < FILES) {
      const name = `record-${next++}.txt`
      const answer = await fetch(`${service.base}${context}?file`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'text/plain', 'content-disposition': `attachment; filename="${name}"` },
        body: name,
      })
      if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function newPage(browser, { base }, { cookie }) {
  const window = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const [name, value] = cookie.split('=')
  await window.addCookies([{ name, value, url: base }])
  return await window.newPage()
}

/** A browser that has seen nothing yet opens the list, and scrolls through it with stops. */
async function openAndScroll(browser, service, headers, context) {
  const page = await newPage(browser, service, headers)
  try {
    await page.addInitScript(() => {
      window.shift = 0
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) window.shift += entry.value
      }).observe({ type: 'layout-shift', buffered: true })
    })
    const begun = performance.now()
    await page.goto(`${service.base}ui/contexts/${context}/files`, { waitUntil: 'commit' })
    await page.waitForSelector('.files tbody th.name a')
    const ms = performance.now() - begun
    const placeholder = await page.evaluate(scrollWithStops, STOPS)
    return { ms, placeholder, shift: await page.evaluate(() => window.shift) }
  } finally {
    await page.context().close()
  }
}

/** Runs in the page. Resolves to the longest time, in milliseconds, until no placeholder was in the window after a stop. */
async function scrollWithStops(stops) {
  const frame = () => new Promise(requestAnimationFrame)
  const isWaiting = () =>
    [...document.querySelectorAll('.files tr.loading')].some(row => {
      const { top, bottom } = row.getBoundingClientRect()
      return bottom > 0 && top < innerHeight
    })
  let longest = 0
  for (let stop = 1; stop <= stops; stop++) {
    const to = (stop / stops) * document.documentElement.scrollHeight
    const from = scrollY
    for (let step = 1; step <= 20; step++) {
      scrollTo(0, from + ((to - from) * step) / 20)
      await frame()
    }
    const stopped = performance.now()
    let lastSeen = stopped
    for (let quiet = 0; quiet < 6; quiet++) {
      await frame()
      if (!isWaiting()) continue
      lastSeen = performance.now()
      quiet = 0
    }
    longest = Math.max(longest, lastSeen - stopped)
  }
  return longest
}

async function uploadMany(browser, service, headers) {
  const context = await newContext(service, headers)
  const page = await newPage(browser, service, headers)
  try {
    await page.goto(`${service.base}ui/contexts/${context}/files`)
    await page.waitForSelector('input[type=file]', { state: 'attached' })
    await page.waitForSelector('.empty')
    const open = new Set()
    let most = 0
    page.on('request', request => {
      open.add(request)
      most = Math.max(most, open.size)
    })
    for (const end of ['requestfinished', 'requestfailed']) page.on(end, request => open.delete(request))
    const files = Array.from({ length: UPLOADS }, (_, at) => ({
      name: `upload-${at}.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from('x'.repeat(1000)),
    }))
    const begun = performance.now()
    await page.setInputFiles('input[type=file]', files)
    await page.locator('.toast').filter({ hasText: 'uploaded' }).waitFor({ timeout: 120_000 })
    const ms = performance.now() - begun
    const stored = JSON.parse(await ask(service, headers, 'GET', context))
    if (stored.length !== UPLOADS) throw new Error(`${stored.length} of ${UPLOADS} files are stored`)
    return { ms, open: most }
  } finally {
    await page.context().close()
  }
}
