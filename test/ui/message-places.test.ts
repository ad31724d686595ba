import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { pick, row, startFilesService } from '../support/files-page.ts'
import { desktop, newPerson, openBrowser, phone, zoomed } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { atFiles, store } = await startFilesService()

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const boxOf = async (element: Locator): Promise<Box> => {
  const box = await element.boundingBox()
  assert.ok(box, 'it is not on the page')
  return box
}

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height

/** Controls of the page, or of the open dialog, that lie below a message. */
async function coveredControls(page: Page, within: string): Promise<string[]> {
  const message = await boxOf(page.locator('.toast').last())
  const covered: string[] = []
  for (const control of await page.locator(`${within} :is(button, a, input, h1, h2):visible`).all()) {
    if ((await control.locator('xpath=ancestor::*[contains(@class, "toasts")]').count()) > 0) continue
    if (overlap(message, await boxOf(control))) covered.push((await control.textContent()) ?? '')
  }
  return covered
}

for (const [window, kind] of [
  [desktop, 'a desktop'],
  [phone, 'a phone'],
  [zoomed, 'a window at 200 %'],
] as const) {
  inBrowser(`messages are at the lower edge and cover no tool, on ${kind}`, async b => {
    const { page, complaints, close } = await newPerson(b, window)
    const context = await atFiles(page)
    for (const file of ['one.txt', 'two.txt', 'three.txt']) await store(context, file)
    await page.reload()
    await pick(page, 'one.txt', 'Delete')
    await page.locator('.toast').filter({ hasText: 'one.txt moved to the trash.' }).waitFor()
    assert.deepEqual(await coveredControls(page, '.top'), [])
    assert.deepEqual(await coveredControls(page, '.files-bar'), [])
    await pick(page, 'two.txt', 'Rename')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await dialog.locator('.toast').waitFor()
    assert.deepEqual(await coveredControls(page, 'dialog'), [])
    await page.keyboard.press('Escape')
    assert.deepEqual(complaints, [])
    await close()
  })
}

inBrowser('in Select a tap on a name ticks it, also that of a folder', async b => {
  const { page, complaints, close } = await newPerson(b, { ...phone, hasTouch: true })
  const context = await atFiles(page)
  await store(context, 'one.txt')
  await page.reload()
  await page.getByRole('button', { name: 'Select', exact: true }).tap()
  await page.getByRole('link', { name: 'one.txt' }).tap()
  await page.getByText('1 selected').waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
  await page.getByRole('link', { name: 'one.txt' }).tap()
  await page.getByText('1 selected').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('after a click on a box Delete works, and Ctrl+Z takes the last change back', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  for (const file of ['one.txt', 'two.txt']) await store(context, file)
  await page.reload()
  await row(page, 'one.txt').getByRole('checkbox').click()
  await page.keyboard.press('Delete')
  await row(page, 'one.txt').waitFor({ state: 'detached' })
  await page.locator('.toast').filter({ hasText: 'one.txt moved to the trash.' }).waitFor()
  await page.keyboard.press('Control+z')
  await page.locator('.toast').filter({ hasText: 'one.txt restored.' }).waitFor()
  await row(page, 'one.txt').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a file cannot get the name of the folder above it, nor a blank one', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  await store(context, 'one.txt')
  await page.reload()
  await pick(page, 'one.txt', 'Rename')
  for (const [name, text] of [
    ['..', 'Files and folders cannot have the name'],
    ['  ', 'Enter a name that is not blank.'],
  ] as const) {
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText(text).waitFor()
  }
  await page.keyboard.press('Escape')
  assert.deepEqual(complaints, [])
  await close()
})
