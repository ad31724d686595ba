import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { row, startFilesService } from '../support/files-page.ts'
import { idsOf, newTitled } from '../support/lists.ts'
import { newContext } from '../support/service.ts'
import { enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'
import { until } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name } = await startFilesService()

/** A context of Anna's with this number of items, and their ids. */
async function contextWith(count: number): Promise<{ readonly context: string; readonly ids: readonly string[] }> {
  const context = await newContext(admin, [id])
  const ids: string[] = []
  for (let at = 1; at <= count; at++) ids.push(await newTitled(admin, context, `record-${at}`))
  return { context, ids }
}

async function openList(page: Page, context: string): Promise<void> {
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files`)
  await page.locator('tbody th.name a').first().waitFor()
}

const choose = async (page: Page, action: string): Promise<void> => {
  await page.getByLabel('Select all').check()
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: action }).click()
}

const trashed = async (context: string): Promise<number> =>
  (await admin.get(`${context}/trash`)).json<{ results: number }>().results

inBrowser('more than a thousand items move with at most 20 requests, and the dialog closes at once', async b => {
  const { context, ids } = await contextWith(1001)
  const folder = await newTitled(admin, context, 'Beach', '?graphtype=list')
  const { page, complaints, close } = await newPerson(b)
  await openList(page, context)
  await page.getByLabel('Select all').check()
  await page.getByLabel('Select Beach').uncheck()
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Move' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Move 1,001 items').waitFor()
  let requests = 0
  page.on('request', request => {
    // How often the page asks how far the work is depends on how fast the machine is.
    if (!(request.method() === 'GET' && request.url().includes('/operations/'))) requests++
  })
  await dialog.getByRole('button', { name: 'Open the folder Beach' }).click()
  await dialog.locator('[aria-current]').filter({ hasText: 'Beach' }).waitFor()
  await dialog.getByRole('button', { name: 'Move here' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.locator('.toast').filter({ hasText: '1,001 items moved.' }).waitFor()
  assert.ok(requests <= 20, `${requests} requests`)
  assert.deepEqual([...(await idsOf(admin, context, folder))].sort(), [...ids].sort())
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the tray shows how far an operation is, and cancels it, also after the page is loaded again', async b => {
  const { context } = await contextWith(30)
  const { page, complaints, close } = await newPerson(b)
  await openList(page, context)
  let cancelled = 0
  // To this page the operation seems to go on for long.
  await page.route('**/operations/*', async route => {
    if (route.request().method() === 'DELETE') {
      cancelled++
      return await route.continue()
    }
    const response = await route.fetch()
    const body = (await response.json()) as object
    const state = cancelled > 0 ? 'cancelled' : 'running'
    await route.fulfill({ response, json: { ...body, state, done: 12, failed: 0 } })
  })
  await choose(page, 'Delete')
  const tray = page.getByRole('region', { name: 'Work in progress' })
  await tray.getByText('Moving 30 items to the trash').waitFor()
  await tray.getByText('12 of 30').waitFor()
  await requireAccessible(page)
  await page.reload()
  await tray.getByText('12 of 30').waitFor()
  await tray.getByRole('button', { name: 'Cancel: Moving 30 items to the trash' }).click()
  await tray.waitFor({ state: 'detached' })
  assert.equal(cancelled, 1)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('items that could not be changed are listed with their reasons; Undo brings the others back', async b => {
  const { context, ids } = await contextWith(25)
  const { page, complaints, close } = await newPerson(b)
  await openList(page, context)
  // Just before the request arrives.
  await page.route(
    '**/operations',
    async route => {
      for (const gone of ids.slice(0, 2)) assert.equal((await admin.delete(`${context}/entry/${gone}`)).status, 204)
      await route.continue()
    },
    { times: 1 },
  )
  await choose(page, 'Delete')
  const tray = page.getByRole('region', { name: 'Work in progress' })
  await tray.getByText('2 items could not be changed').click()
  await tray.getByText('record-1: ').waitFor()
  await tray.getByText('record-2: ').waitFor()
  await requireAccessible(page)
  assert.equal(await trashed(context), 23)
  await page.locator('.toast').filter({ hasText: '23 items moved to the trash.' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.locator('.toast').filter({ hasText: '23 items restored.' }).waitFor()
  assert.equal(await trashed(context), 0)
  await tray.getByRole('button', { name: /^Remove/ }).click()
  await tray.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the trash restores many items at once', async b => {
  const { context, ids } = await contextWith(22)
  for (const id of ids) assert.equal((await admin.post(`${context}/trash/${id}`)).status, 204)
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/trash`)
  await row(page, 'record-1').first().waitFor()
  for (const box of await page.getByRole('checkbox').all()) await box.check()
  await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Restore' }).click()
  await page.locator('.toast').filter({ hasText: '22 items restored.' }).waitFor()
  await until(
    () => trashed(context),
    results => results === 0,
  )
  assert.deepEqual(complaints, [])
  await close()
})
