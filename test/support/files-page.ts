import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from './accounts.ts'
import { after } from './after.ts'
import { newContext, startInProcess } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { enter } from './ui.ts'

export const MEGA = 1_048_576

export const row = (page: Page, file: string): Locator => page.getByRole('row').filter({ hasText: file })

/** Picks from the menu of a row. */
export async function pick(page: Page, file: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${file}` }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

/** Picks from the menu *New*. */
export async function addNew(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

/** Opens the list of the uploads, which shows one line at first. */
export async function openTray(page: Page): Promise<void> {
  await page.locator('.tray').waitFor()
  await page.locator('.tray [aria-expanded=false]').evaluateAll(buttons => {
    for (const button of buttons) (button as HTMLElement).click()
  })
}

/**
 * Drags one element to another, with more than one move over the target: with one the browser may drop before it has asked.
 * Toasts are closed first, as they could lie on what is dragged.
 */
export async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  await page.locator('.toast button:last-child').evaluateAll(buttons => {
    for (const button of buttons) (button as HTMLElement).click()
  })
  await page.locator('.toast').first().waitFor({ state: 'detached' })
  await from.hover()
  await page.mouse.down()
  await to.hover()
  await to.hover({ position: { x: 2, y: 2 } })
  await to.hover()
  await page.mouse.up()
}

export const UNLIMITED = -1
/** Bytes per second with which an upload of several megabytes takes longer than its test. */
export const SLOW = 65_536

/** Limits how fast the page uploads, in bytes per second; returns a function that changes the limit, or cuts the connection. */
export async function limitUploads(
  page: Page,
  bytesPerSecond: number,
): Promise<(bytesPerSecond: number, offline?: boolean) => Promise<void>> {
  const network = await page.context().newCDPSession(page)
  const limit = async (uploadThroughput: number, offline = false): Promise<void> => {
    const conditions = { offline, latency: 0, downloadThroughput: UNLIMITED, uploadThroughput }
    await network.send('Network.emulateNetworkConditions', conditions)
  }
  await limit(bytesPerSecond)
  return limit
}

/** A service for tests of the file pages, with Anna, who owns the contexts that are made for her. */
export async function startFilesService(settings: Readonly<Record<string, string>> = {}) {
  const service = await startInProcess(
    { after },
    { settings: { 'service.data.quota': 'on', 'service.data.max-file-size': '60m', ...settings } },
  )
  const admin = await service.admin()
  const folder = await temporaryFolder()
  const { id, name } = await addUser(admin, 'anna@example.org')
  const filesUrl = (context: string): string => `${service.base}ui/contexts/${context}/files`
  return {
    service,
    admin,
    id,
    name,
    filesUrl,
    levelOf: async (context: string): Promise<unknown> => (await admin.get(`${context}/quota`)).json()['fillLevel'],
    entriesOf: async (context: string): Promise<readonly string[]> => (await admin.get(context)).json<string[]>(),

    /** A file on this machine's disk: browsers are not handed large ones otherwise. */
    fileOf: async (name: string, size: number): Promise<string> => {
      const path = join(folder, name)
      await writeFile(path, Buffer.alloc(size, 'x'))
      return path
    },

    /** A folder on this machine's disk, with these files by path; returns the path of the outermost folder. */
    folderOf: async (files: Readonly<Record<string, string>>): Promise<string> => {
      for (const [path, body] of Object.entries(files)) {
        await mkdir(join(folder, dirname(path)), { recursive: true })
        await writeFile(join(folder, path), body)
      }
      return join(folder, Object.keys(files)[0]?.split('/')[0] ?? '')
    },

    /** Creates an entry with its file, as the administrator, and returns its id. */
    store: async (context: string, file: string, body: string | Buffer = 'x', type = 'text/plain', query = '') => {
      const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(file)}`
      const headers = { 'content-type': type, 'content-disposition': disposition }
      const answer = await admin.ask(`${context}?file${query}`, { method: 'POST', body, headers })
      assert.equal(answer.status, 201, answer.text)
      return answer.json<{ entryId: string }>().entryId
    },

    /** A context of Anna's, and Anna on the page of its files. */
    atFiles: async (page: Page, quota = -1): Promise<string> => {
      const context = await newContext(admin, [id])
      await admin.put(`${context}/quota`, { quota })
      await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files`)
      await page.waitForSelector('.files-bar .new')
      await page.waitForSelector('.empty')
      return context
    },
  }
}
