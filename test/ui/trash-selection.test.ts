import assert from 'node:assert/strict'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { newTitled } from '../support/lists.ts'
import { newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, atFiles, store, entriesOf } = await startFilesService()

inBrowser('everything in the trash is selected at once, a range with Shift, and items are found by name', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const folder = await newTitled(admin, context, 'Harbour', '?graphtype=list')
  const inFolder = `&list=${encodeURIComponent(`${service.base}${context}/resource/${folder}`)}`
  const ids: string[] = []
  for (let number = 0; number < 54; number++)
    ids.push(await store(context, `sheet-${number}.txt`, 'x', 'text/plain', inFolder))
  ids.push(await store(context, 'plan.txt'))
  const about = `${service.base}_principals/resource/${id}`
  const fullName = { 'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Anna Andersson' }] }
  assert.equal((await admin.put(`_principals/metadata/${id}`, { [about]: fullName })).status, 204)
  const anna = service.visitor()
  await anna.signIn(name, GOOD_PASSWORD)
  for (const one of ids) assert.equal((await anna.post(`${context}/trash/${one}`)).status, 204)
  await page.goto(`${service.base}ui/contexts/${context}/trash`)
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  // Where an item was, with a way there.
  await row('sheet-53.txt').getByRole('link', { name: 'Harbour' }).waitFor()
  await row('sheet-53.txt').getByText(`by Anna Andersson (${name})`).waitFor()
  assert.equal(await row('plan.txt').getByText('from the folder').count(), 0)

  await page.getByLabel('Select sheet-53.txt').click()
  await page.getByLabel('Select sheet-50.txt').click({ modifiers: ['Shift'] })
  const selection = page.getByRole('group', { name: 'Selection' })
  await selection.getByText('4 selected').waitFor()
  await requireAccessible(page)
  await selection.getByRole('button', { name: 'Select all 55' }).click()
  await selection.getByText('55 selected').waitFor()
  await selection.getByRole('button', { name: 'Clear selection' }).click()

  await page.getByLabel('Search in the trash').fill('PLAN')
  await row('sheet-53.txt').waitFor({ state: 'detached' })
  await row('plan.txt').waitFor()
  await page.getByLabel('Select all', { exact: true }).check()
  await selection.getByRole('button', { name: 'Restore' }).click()
  await page.locator('.toast').filter({ hasText: 'plan.txt restored.' }).waitFor()
  await page.getByText('Nothing found.').waitFor()
  await page.getByLabel('Search in the trash').fill('')
  await row('sheet-53.txt').waitFor()
  await page.getByLabel('Select all', { exact: true }).check()
  await selection.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('The trash is empty.').waitFor()
  assert.equal((await entriesOf(context)).length, 56)
  assert.deepEqual(complaints, [])
  await close()
})
