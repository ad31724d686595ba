import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import type { GraphJson } from '../support/content.ts'
import { row, startFilesService } from '../support/files-page.ts'
import { newTitled } from '../support/lists.ts'
import { newContext } from '../support/service.ts'
import { enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

/** Sharing and tagging several items at once. */

const inBrowser = await openBrowser()
const { service, admin, id: anna, name, store } = await startFilesService()
const ben = await addUser(admin, 'ben@example.org')

/** A context of Anna with a file, and a folder that has a file. */
async function newPlace() {
  const context = await newContext(admin, [anna])
  const plans = await newTitled(admin, context, 'Plans', '?graphtype=list')
  const list = encodeURIComponent(`${service.base}${context}/resource/${plans}`)
  const inside = await store(context, 'inside.txt', 'x', 'text/plain', `&list=${list}`)
  return { context, plans, inside, one: await store(context, 'one.txt') }
}

async function open(page: Page, context: string): Promise<void> {
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files`)
  await row(page, 'one.txt').waitFor()
}

const selection = (page: Page) => page.getByRole('region', { name: 'Selection' })
const toast = (page: Page, text: string) => page.locator('.toast').filter({ hasText: text })

inBrowser('several items are shared with a person at once, and taken from them again', async b => {
  const { context, inside, one } = await newPlace()
  const asBen = service.visitor()
  await asBen.signIn(ben.name, GOOD_PASSWORD)
  const statuses = async (): Promise<number[]> => [
    (await asBen.get(`${context}/resource/${inside}`)).status,
    (await asBen.get(`${context}/resource/${one}`)).status,
  ]
  const { page, complaints, close } = await newPerson(b, { refusals: [404] })
  await open(page, context)
  const share = async (): Promise<void> => {
    await page.getByLabel('Select all').check()
    await selection(page).getByRole('button', { name: 'Share', exact: true }).click()
  }
  await share()
  const dialog = page.getByRole('dialog', { name: 'Share 2 items' })
  await dialog.getByLabel('User or group').fill('nobody-of-this-name')
  await dialog.getByRole('button', { name: 'Grant access' }).click()
  await dialog.getByText('There is no user or group with this name.').waitFor()
  await requireAccessible(page)
  await dialog.getByLabel('User or group').fill(ben.name)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await toast(page, `2 items shared with ${ben.name}.`).waitFor()
  assert.deepEqual(await statuses(), [200, 200])

  await share()
  await dialog.getByLabel('User or group').fill('guest')
  await dialog.getByRole('button', { name: 'Grant access' }).click()
  const question = page.getByRole('dialog', { name: 'Make it public?' })
  await requireAccessible(page)
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'detached' })
  assert.equal((await service.visitor().get(`${context}/resource/${one}`)).status, 401)

  await dialog.getByLabel('User or group').fill(ben.name)
  await dialog.getByLabel('Permission').selectOption('no access')
  await dialog.getByText('Access from the space, from a folder or from a group stays.').waitFor()
  await requireAccessible(page)
  await dialog.getByRole('button', { name: 'Remove access' }).click()
  await dialog.waitFor({ state: 'detached' })
  await toast(page, `Access of ${ben.name} to 2 items removed.`).waitFor()
  assert.deepEqual(await statuses(), [403, 403])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('several items get tags at once and lose others, on a phone too', async b => {
  const { context, plans, one } = await newPlace()
  const tagsOf = async (id: string): Promise<string[]> => {
    const about = (await admin.get(`${context}/metadata/${id}`)).json<GraphJson>()
    const terms = about[`${service.base}${context}/resource/${id}`]?.['http://www.w3.org/ns/dcat#keyword'] ?? []
    return terms.map(({ value }) => value).sort()
  }
  const { page, complaints, close } = await newPerson(b, phone)
  await open(page, context)
  const tag = async () => {
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    await page.getByLabel('Select all').check()
    await selection(page).getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Tag', exact: true }).click()
    return page.getByRole('dialog', { name: 'Tag 2 items' })
  }
  const first = await tag()
  assert.equal(await first.getByRole('group', { name: 'Remove tags' }).count(), 0)
  assert.equal(await first.getByRole('button', { name: 'Save' }).isDisabled(), true)
  await first.getByLabel('Add tags').fill('summer, Lake Constance')
  await requireAccessible(page)
  await page.keyboard.press('Enter')
  await first.waitFor({ state: 'detached' })
  await toast(page, 'Tags of 2 items changed.').getByRole('button', { name: 'Close' }).click()
  assert.deepEqual(
    [await tagsOf(plans), await tagsOf(one)],
    [
      ['Lake Constance', 'summer'],
      ['Lake Constance', 'summer'],
    ],
  )

  const second = await tag()
  await second.getByLabel('summer (2)').check()
  await second.getByLabel('Add tags').fill('winter')
  await requireAccessible(page)
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0)
  await second.getByRole('button', { name: 'Save' }).click()
  await toast(page, 'Tags of 2 items changed.').waitFor()
  assert.deepEqual(
    [await tagsOf(plans), await tagsOf(one)],
    [
      ['Lake Constance', 'winter'],
      ['Lake Constance', 'winter'],
    ],
  )
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'all actions on a selection fit the narrowest window that shows them without a menu, in German too',
  async b => {
    const { context } = await newPlace()
    const { page, complaints, close } = await newPerson(b, { viewport: { width: 1217, height: 800 }, locale: 'de-DE' })
    await open(page, context)
    await page.locator('tbody .check input').first().check()
    await page.getByRole('button', { name: 'Schlagwörter' }).waitFor()
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    assert.ok(overflow <= 0, `${overflow} pixels too wide`)
    assert.deepEqual(complaints, [])
    await close()
  },
)
