import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { newTitled } from '../support/lists.ts'
import { newFile, newLink } from '../support/public-links.ts'
import { ADMIN_PASSWORD, newContext, startInProcess } from '../support/service.ts'
import { desktop, enter, escape, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const inBrowser = await openBrowser()
const anna = await addUser(admin, 'anna@example.org')
const context = await newContext(admin, [anna.id])
const report = await newFile(admin, context, { name: 'report.txt', bytes: 'text of the report' })

const contentOf = async (page: Page, press: () => Promise<void>): Promise<string> => {
  const download = page.waitForEvent('download')
  await press()
  return await readFile(await (await download).path(), 'utf8')
}

/** Accessible in a wide window and on a phone. */
async function judge(page: Page): Promise<void> {
  for (const { viewport } of [phone, desktop]) {
    await page.setViewportSize(viewport)
    await requireAccessible(page)
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    assert.ok(overflow <= 0, `${overflow} pixels too wide`)
  }
}

inBrowser(
  'an owner creates a link with a password; a visitor without an account opens it, until it is revoked',
  async b => {
    const { page, complaints, close } = await newPerson(b, { ...desktop, refusals: [400] })
    await enter(page, service.base, anna.name, GOOD_PASSWORD, `ui/contexts/${context}/files?item=${report}&tab=access`)
    await page.waitForSelector('text=No public links.')
    await page.getByRole('button', { name: 'Create public link' }).click()
    const dialog = page.getByRole('dialog').last()
    await dialog.getByLabel('Note').fill('For the review')
    await dialog.getByLabel('Password (optional)').fill('short')
    await dialog.getByRole('button', { name: 'Create public link' }).click()
    await dialog.locator('p.error').waitFor()
    await judge(page)
    await dialog.getByLabel('Password (optional)').fill(GOOD_PASSWORD)
    await dialog.getByRole('button', { name: 'Create public link' }).click()
    const url = await dialog.getByLabel('Public link').inputValue()
    await judge(page)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row').filter({ hasText: 'For the review' }).waitFor()
    await judge(page)

    const visitor = await newPerson(b, { ...desktop, refusals: [403, 404] })
    await visitor.page.goto(url)
    const password = visitor.page.getByLabel('Password', { exact: true })
    await password.fill('wrong')
    await password.press('Enter')
    await visitor.page.waitForSelector('.error:text("The password is wrong.")')
    await judge(visitor.page)
    await password.fill(GOOD_PASSWORD)
    await password.press('Enter')
    await visitor.page.waitForSelector('pre.preview:has-text("text of the report")')
    await judge(visitor.page)
    const press = () => visitor.page.getByRole('link', { name: 'Download' }).click()
    assert.equal(await contentOf(visitor.page, press), 'text of the report')

    await page.getByRole('button', { name: 'Revoke: For the review' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.waitForSelector('text=No public links.')
    await visitor.page.reload()
    await visitor.page.waitForSelector('[role=alert]:has-text("was revoked")')
    await judge(visitor.page)
    assert.deepEqual([...complaints, ...visitor.complaints], [])
    await close()
    await visitor.close()
  },
)

inBrowser('a visitor looks through a folder; with a limit a preview is shown only when asked for', async b => {
  const folder = await newTitled(admin, context, 'Harbour', '?graphtype=list')
  const inside = `?graphtype=list&list=${encodeURIComponent(`${service.base}${context}/resource/${folder}`)}`
  const inner = await newTitled(admin, context, 'Tides', inside)
  await newFile(admin, context, { name: 'high.txt', bytes: 'high water', list: inner })
  const { url } = await newLink(admin, context, folder, { maxDownloads: 1 })
  const { page, complaints, close } = await newPerson(b, { ...desktop, refusals: [404] })
  await page.goto(url)
  await page.waitForSelector('h1:has-text("Harbour")')
  await page.waitForSelector('text=Downloads left: 1')
  await page.getByRole('button', { name: 'Tides' }).click()
  await page.getByRole('button', { name: 'high.txt' }).waitFor()
  await judge(page)
  await page.getByRole('button', { name: 'high.txt' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Show preview (counts as a download)' }).click()
  await dialog.locator('pre.preview:has-text("high water")').waitFor()
  await judge(page)
  await escape(page)
  await page.getByRole('button', { name: 'Harbour' }).click()
  await page.waitForSelector('[role=alert]:has-text("reached its maximum number of downloads")')
  await page.goto(`${service.base}ui/link#nothing`)
  await page.waitForSelector('[role=alert]:has-text("incomplete")')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a visitor sees a folder sorted: folders first, then names with their numbers in order', async b => {
  const folder = await newTitled(admin, context, 'Sorted', '?graphtype=list')
  for (const file of ['record-10.txt', 'Record-9.txt', 'a.txt', 'record-100.txt'])
    await newFile(admin, context, { name: file, bytes: file, list: folder })
  const inside = `?graphtype=list&list=${encodeURIComponent(`${service.base}${context}/resource/${folder}`)}`
  await newTitled(admin, context, 'Zebra', inside)
  const { url } = await newLink(admin, context, folder)
  const { page, complaints, close } = await newPerson(b, desktop)
  await page.goto(url)
  await page.getByRole('button', { name: 'Zebra' }).waitFor()
  const names = await page.locator('tbody bdi.name').allInnerTexts()
  assert.deepEqual(names, ['Zebra', 'a.txt', 'Record-9.txt', 'record-10.txt', 'record-100.txt'])
  assert.match(await page.locator('tbody tr').nth(1).innerText(), /just now/)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('administrators see the links of all users and revoke one; users see their own', async b => {
  await newLink(admin, context, report, { name: 'Of the administrator' })
  const { page, complaints, close } = await newPerson(b, desktop)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/links')
  await page.getByRole('row').filter({ hasText: 'Of the administrator' }).waitFor()
  await judge(page)
  await page.goto(`${service.base}ui/shared-by-me`)
  await page.getByRole('row').filter({ hasText: 'Of the administrator' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Revoke: Of the administrator' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('row').filter({ hasText: 'Of the administrator' }).waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})
