// How long the pages take in a browser with a slow connection and a slow processor: Chromium's "slow 4G" and a processor four times
// slower, with nothing in its cache. A page is there when what it is opened for is drawn.
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { interleave, isQuick, medianOf, newContext, ROUNDS, signIn, startService } from './support.mjs'

const CHROMIUM = '/usr/bin/chromium'
/** Lighthouse's slow 4G: 150 ms, 1.6 Mbit/s down, 750 kbit/s up. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 1_638_400 / 8, uploadThroughput: 768_000 / 8 }
const SLOWER = 4
const FILES = isQuick ? 5 : 50

export async function measure(say) {
  if (!existsSync(CHROMIUM)) {
    say('no Chromium')
    return { title: 'Pages', rows: [], curves: [] }
  }
  const service = await startService()
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const headers = await signIn(service)
    const context = await newContext(service, headers)
    for (let n = 0; n < FILES; n++) await store(service, headers, context, `file-${n}.txt`)
    const results = await interleave(ROUNDS, {
      'sign-in': () => time(browser, service, { path: 'auth/login', sign: '[name=auth_password]' }),
      first: () => time(browser, service, { path: 'ui/', sign: '.tile', headers }),
      files: () => time(browser, service, { path: `ui/contexts/${context}/files`, sign: 'tbody .menu', headers }),
    })
    const row = (what, name) => ({
      what,
      value: medianOf(results[name], ({ ms }) => ms),
      unit: 'ms',
      goal: { most: 2000 },
    })
    return {
      title: 'Pages on slow 4G with a processor four times slower',
      rows: [
        row('sign-in page', 'sign-in'),
        row('first page after the sign-in', 'first'),
        row(`page of ${FILES} files`, 'files'),
        { what: 'bytes of the first page', value: medianOf(results.first, ({ bytes }) => bytes), unit: 'bytes' },
      ],
      curves: [],
    }
  } finally {
    await browser.close()
    await service.stop()
  }
}

async function store({ base }, headers, context, name) {
  const answer = await fetch(`${base}${context}?file`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'text/plain', 'content-disposition': `attachment; filename="${name}"` },
    body: name,
  })
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
}

/** Milliseconds from the request until the sign is on the page, in a browser that has seen nothing yet. */
async function time(browser, { base }, { path, sign, headers }) {
  const context = await browser.newContext()
  try {
    const [name, value] = (headers?.cookie ?? '').split('=')
    if (name) await context.addCookies([{ name, value, url: base }])
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', SLOW_4G)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
    let bytes = 0
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
    const begun = performance.now()
    await page.goto(base + path, { waitUntil: 'commit' })
    await page.waitForSelector(sign)
    return { ms: performance.now() - begun, bytes }
  } finally {
    await context.close()
  }
}
