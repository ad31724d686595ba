import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { pick, row, startFilesService } from '../support/files-page.ts'
import { shareContext } from '../support/folder-access.ts'
import { idsOf, newTitled } from '../support/lists.ts'
import { newContext } from '../support/service.ts'
import { enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

/** Copies, and moves into another space. */

const inBrowser = await openBrowser()
const { service, admin, id: anna, name, store } = await startFilesService()
const ben = await addUser(admin, 'ben@example.org')

async function newSpace(title: string): Promise<string> {
  const context = await newContext(admin, [anna])
  const metadata = {
    [service.base + context]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: title }] },
  }
  assert.equal((await admin.put(`_contexts/metadata/${context}`, metadata)).status, 204)
  return context
}

const open = async (page: Page, context: string, who = name): Promise<void> => {
  await enter(page, service.base, who, GOOD_PASSWORD, `ui/contexts/${context}/files`)
  await page.locator('tbody th.name a').first().waitFor()
}

const selection = (page: Page) => page.getByRole('region', { name: 'Selection' })
const toast = (page: Page, text: string) => page.locator('.toast').filter({ hasText: text })

async function goTo(page: Page, ...steps: readonly string[]): Promise<void> {
  const dialog = page.getByRole('dialog')
  for (const step of steps) {
    await dialog.getByRole('button', { name: step, exact: true }).click()
    await dialog
      .locator('[aria-current]')
      .filter({ hasText: step.replace(/^Open the (?:space|folder) /, '') })
      .waitFor()
  }
}

inBrowser(
  'several items and what is in folders are copied into a folder of another space, by keyboard too',
  async b => {
    const [from, to] = [await newSpace('Harbour'), await newSpace('Archive')]
    const plans = await newTitled(admin, from, 'Plans', '?graphtype=list')
    const box = await newTitled(admin, to, 'Box', '?graphtype=list')
    await store(
      from,
      'inside.txt',
      'x',
      'text/plain',
      `&list=${encodeURIComponent(`${service.base}${from}/resource/${plans}`)}`,
    )
    const one = await store(from, 'one.txt', 'the first')
    const { page, complaints, close } = await newPerson(b)
    await open(page, from)
    await page.getByLabel('Select all').check()
    await selection(page).getByRole('button', { name: 'Copy', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy 2 items' })
    await dialog.getByText('Harbour').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Copy here' }).isDisabled(), true, 'they are here')
    assert.equal(
      await dialog.getByRole('button', { name: 'Open the folder Plans' }).count(),
      0,
      'it goes with the others',
    )
    await dialog.getByRole('button', { name: 'Spaces' }).click()
    await dialog.getByRole('button', { name: 'Open the space Archive' }).waitFor()
    await requireAccessible(page)
    await dialog.getByRole('button', { name: 'Open the space Archive' }).press('Enter')
    await dialog.locator('button:focus').filter({ hasText: 'Box' }).waitFor()
    await page.keyboard.press('Enter')
    await dialog.locator('button:focus').filter({ hasText: 'Copy here' }).waitFor()
    await requireAccessible(page)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await toast(page, '3 items copied to Box.').getByRole('button', { name: 'Open' }).click()
    await row(page, 'one.txt').waitFor()
    assert.equal((await idsOf(admin, to, box)).length, 2)
    assert.equal((await admin.get(`${from}/resource/${one}`)).text, 'the first')
    assert.equal((await idsOf(admin, from, plans)).length, 1)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('a move into another space says before and after who loses access', async b => {
  const [from, to] = [await newSpace('Shared'), await newSpace('Private')]
  await shareContext(admin, from, { owners: [anna], readers: [ben.id] })
  const file = await store(from, 'plan.txt', 'a plan')
  const { page, complaints, close } = await newPerson(b)
  await open(page, from)
  await pick(page, 'plan.txt', 'Move')
  await goTo(page, 'Spaces', 'Open the space Private')
  const dialog = page.getByRole('dialog', { name: 'Move plan.txt' })
  await dialog.getByText('1 person will no longer have access.').waitFor()
  await requireAccessible(page)
  await dialog.getByRole('button', { name: 'Move here' }).click()
  await dialog.waitFor({ state: 'detached' })
  await toast(page, '1 item moved to Private. 1 person no longer has access.').waitFor()
  await row(page, 'plan.txt').waitFor({ state: 'detached' })
  assert.equal((await admin.get(`${from}/entry/${file}`)).status, 404)
  const [moved = ''] = (await admin.get(to)).json<string[]>()
  assert.equal((await admin.get(`${to}/resource/${moved}`)).text, 'a plan')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a move into a public space says before and after that everyone has access', async b => {
  const [from, to] = [await newSpace('Kept'), await newSpace('Public')]
  await shareContext(admin, to, { owners: [anna], readers: ['_guest'] })
  await store(from, 'tides.txt')
  const { page, complaints, close } = await newPerson(b)
  await open(page, from)
  await pick(page, 'tides.txt', 'Move')
  await goTo(page, 'Spaces', 'Open the space Public')
  const dialog = page.getByRole('dialog', { name: 'Move tides.txt' })
  await dialog.getByText('Everyone will have access.').waitFor()
  await dialog.getByRole('button', { name: 'Move here' }).click()
  await toast(page, '1 item moved to Public. Everyone has access.').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'the tray lists by name what found no room in the other space, also after the page is loaded again',
  async b => {
    const [from, to] = [await newSpace('Full'), await newSpace('Small')]
    assert.equal((await admin.put(`${to}/quota`, { quota: 10 })).status, 200)
    await store(from, 'big.txt', 'x'.repeat(50))
    await store(from, 'little.txt', 'x')
    const { page, complaints, close } = await newPerson(b)
    await open(page, from)
    await page.getByLabel('Select all').check()
    await selection(page).getByRole('button', { name: 'Move', exact: true }).click()
    await goTo(page, 'Spaces', 'Open the space Small')
    await page.getByRole('button', { name: 'Move here' }).click()
    await toast(page, '1 item moved to Small.').waitFor()
    const tray = page.getByRole('region', { name: 'Work in progress' })
    await tray.getByText('Moving 2 items').waitFor()
    await page.reload()
    await tray.getByText('1 item could not be changed').click()
    await tray.getByText('big.txt: ').waitFor()
    await requireAccessible(page)
    await row(page, 'big.txt').waitFor()
    assert.equal(await row(page, 'little.txt').count(), 0)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'readers copy into spaces of their own and move nothing; on a phone a menu has what is needed less often',
  async b => {
    const from = await newSpace('Library')
    await shareContext(admin, from, { owners: [anna], readers: [ben.id] })
    const own = await newContext(admin, [ben.id])
    await store(from, 'book.txt', 'a book')
    const { page, complaints, close } = await newPerson(b, phone)
    await open(page, from, ben.name)
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    await page.getByText('book.txt').click()
    await selection(page).getByText('1 selected').waitFor()
    assert.equal(await selection(page).getByRole('button', { name: 'Move' }).count(), 0)
    await selection(page).getByRole('button', { name: 'More actions' }).click()
    await requireAccessible(page)
    await page.getByRole('menuitem', { name: 'Copy' }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy book.txt' })
    await dialog.getByText('There are no folders here.').waitFor()
    await goTo(page, 'Spaces', `Open the space ${own}`)
    await requireAccessible(page)
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0)
    await dialog.getByRole('button', { name: 'Copy here' }).click()
    await toast(page, `1 item copied to ${own}.`).waitFor()
    const [copy = ''] = (await admin.get(own)).json<string[]>()
    assert.equal((await admin.get(`${own}/resource/${copy}`)).text, 'a book')
    assert.deepEqual(complaints, [])
    await close()
  },
)
