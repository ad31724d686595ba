import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Browser, chromium as playwright, type Page } from 'playwright-core'
import type { Peer } from './peer.ts'
import type { Test } from './peer-process.ts'

const whole = '/usr/bin/chromium'
const shell = '/usr/bin/chromium-headless-shell'

export const chromium: Peer = { name: 'Chromium', available: () => existsSync(whole) }

/**
 * `whole`: as people have it. `light`: its engine without windows, extensions and a viewer of PDF documents, which takes half the processor
 * time. Where that is not installed, it is the whole one.
 */
export type Kind = 'whole' | 'light'

export interface Chromium {
  readonly browser: Browser
  /** A page of somebody new, who has no cookies. */
  page(): Promise<Page>
  /** Everything that runs for this browser. */
  processes(): Promise<readonly number[]>
  /** Resolves when nothing of it is left; a second call does nothing more. */
  close(): Promise<void>
}

/** Real Chromium with a new profile, closed after the test. It reaches nothing beyond loopback. */
export async function startChromium(t: Test, more: readonly string[] = [], kind: Kind = 'whole'): Promise<Chromium> {
  const home = await mkdtemp(join(tmpdir(), 'stowage-chromium-'))
  const processes = (): Promise<readonly number[]> => processesWith(`HOME=${home}`)
  const end = async (browser: Browser | undefined): Promise<void> => {
    await browser?.close()
    while ((await processes()).length > 0) await pause(5)
    await rm(home, { recursive: true, force: true })
  }
  let browser: Browser
  try {
    // It keeps crash reports in the home folder, whatever the profile is.
    const env = { HOME: home, PATH: process.env['PATH'] ?? '' }
    // With handlers of its own a signal would no longer end this process; without it Chromium ends by itself.
    const signals = { handleSIGHUP: false, handleSIGINT: false, handleSIGTERM: false }
    const executablePath = kind === 'light' && existsSync(shell) ? shell : whole
    browser = await playwright.launch({ executablePath, args: [...quiet, ...more], env, ...signals })
  } catch (error) {
    await end(undefined)
    throw error
  }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= end(browser))
  t.after(close)
  return { browser, processes, close, page: async () => (await browser.newContext()).newPage() }
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
  // A closed port, not an unknown name: for that it would ask name servers of its own choice.
  '--host-resolver-rules=MAP * 127.0.0.1:1, EXCLUDE localhost, EXCLUDE 127.0.0.1',
]

/** The processes that were started with this in their environment: not all of them stay in one group. */
async function processesWith(variable: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const own = await Promise.all(
    pids.map(async pid => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      return environment.split('\0').includes(variable)
    }),
  )
  return pids.filter((_, place) => own[place]).map(Number)
}
