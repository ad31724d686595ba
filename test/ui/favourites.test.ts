import assert from 'node:assert/strict'
import { addNew, pick, row, startFilesService } from '../support/files-page.ts'
import { newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, id, atFiles, store } = await startFilesService()

inBrowser('favourites are marked in a list or a panel, stand on the first page, and can be removed there', async b => {
  const { page, complaints, close } = await newPerson(b)
  await admin.put(`_principals/resource/${id}`, { customProperties: { colour: 'green' } })
  const context = await atFiles(page)
  await store(context, 'tides.txt')
  await page.reload()
  await addNew(page, 'New folder')
  await page.getByRole('dialog').getByLabel('Name').fill('Harbour')
  await page.keyboard.press('Enter')
  await row(page, 'Harbour').waitFor()
  await pick(page, 'Harbour', 'Add to favourites')
  await row(page, 'Harbour').getByText('Favourite').waitFor()
  await page.getByRole('link', { name: 'tides.txt' }).click()
  const star = page.getByRole('dialog').getByRole('button', { name: 'Favourite' })
  await star.click()
  await page.locator('dialog .star[aria-pressed=true]').waitFor()
  await requireAccessible(page)

  await page.goto(`${service.base}ui/`)
  const block = page.getByRole('region', { name: 'Favourites' })
  // The latest first.
  await block.getByRole('listitem').first().getByRole('link', { name: 'tides.txt' }).waitFor()
  await requireAccessible(page)
  await block.getByRole('button', { name: 'Remove from favourites: tides.txt' }).click()
  await block.getByRole('link', { name: 'tides.txt' }).waitFor({ state: 'detached' })
  await block.getByRole('link', { name: 'Harbour' }).click()
  await page.waitForURL(new RegExp(`/contexts/${context}/files/`))
  const user = (await admin.get(`_principals/resource/${id}`)).json<{ customProperties: Record<string, string> }>()
  assert.equal(user.customProperties['colour'], 'green', 'other properties stay')
  assert.deepEqual(complaints, [])
  await close()
})
