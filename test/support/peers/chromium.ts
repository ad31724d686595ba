import { existsSync } from 'node:fs'
import { type Browser, chromium as playwright, type Page } from 'playwright-core'
import type { Peer } from './peer.ts'
import type { Test } from './peer-process.ts'

const program = '/usr/bin/chromium'

export const chromium: Peer = { name: 'Chromium', available: () => existsSync(program) }

export interface Chromium {
  readonly browser: Browser
  /** A page of somebody who has no cookies yet. */
  page(): Promise<Page>
  close(): Promise<void>
}

/** Real Chromium with a new profile, closed after the test. Nothing but loopback has an address for it. */
export async function startChromium(t: Test, args: readonly string[] = []): Promise<Chromium> {
  const browser = await playwright.launch({ executablePath: program, args: [...quiet, ...args] })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= browser.close())
  t.after(close)
  return {
    browser,
    close,
    async page() {
      const context = await browser.newContext()
      return context.newPage()
    },
  }
}

const quiet = [
  // Root has no sandbox, nor have most containers.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
]
