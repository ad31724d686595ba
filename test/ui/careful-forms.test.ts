import assert from 'node:assert/strict'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { pick, row, startFilesService } from '../support/files-page.ts'
import { enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, name, atFiles, store } = await startFilesService()

inBrowser('a public link ends on a day of ones own choice', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const file = await store(context, 'tides.txt')
  await page.reload()
  await pick(page, 'tides.txt', 'Share')
  await page.getByRole('button', { name: 'Create public link' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create public link' })
  await dialog.getByLabel('Valid for').selectOption({ label: 'on a certain day' })
  await dialog.getByLabel('Last day').fill('2027-03-09')
  await requireAccessible(page)
  await dialog.getByRole('button', { name: 'Create public link' }).click()
  await page.getByRole('dialog', { name: 'Public link created' }).waitFor()
  const { items } = (await admin.get(`${context}/links/${file}`)).json<{ items: ReadonlyArray<{ expires: string }> }>()
  const last = await page.evaluate(() => new Date('2027-03-09T23:59:59').toISOString())
  assert.equal(Date.parse(items[0]?.expires ?? ''), Date.parse(last))
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('Escape does not close a secret that nobody has copied', async b => {
  const { page, complaints, close } = await newPerson(b, { permissions: ['clipboard-read', 'clipboard-write'] })
  const context = await atFiles(page)
  await store(context, 'tides.txt')
  await page.reload()
  await pick(page, 'tides.txt', 'Share')
  await page.getByRole('button', { name: 'Create public link' }).click()
  const form = page.getByRole('dialog', { name: 'Create public link' })
  await form.getByRole('button', { name: 'Create public link' }).click()
  const secret = page.getByRole('dialog', { name: 'Public link created' })
  await secret.waitFor()
  await page.keyboard.press('Escape')
  await secret.getByText('This is not shown again.').waitFor()
  await secret.getByRole('button', { name: 'Copy', exact: true }).click()
  await secret.getByText('Copied').waitFor()
  await page.keyboard.press('Escape')
  await secret.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a date of publication that does not exist is refused, and one that does is saved', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const file = await store(context, 'tides.txt')
  await page.goto(`${service.base}ui/contexts/${context}/files?item=${file}&tab=metadata`)
  const issued = page.getByRole('dialog').getByLabel('Date of publication')
  const save = page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true })
  await issued.fill('2026-02-30')
  await save.click()
  await page.getByText('This date does not exist.').waitFor()
  await issued.fill('2026-02-28')
  await save.click()
  await page.locator('.toast').filter({ hasText: 'Saved.' }).waitFor()
  assert.match((await admin.get(`${context}/metadata/${file}`)).text, /2026-02-28/)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('an address of a file without access says so once', async b => {
  const { page, close } = await newPerson(b, { refusals: [403, 401] })
  const created = await admin.post('_contexts?graphtype=context')
  const { entryId: closed } = created.json<{ entryId: string }>()
  const file = await store(closed, 'secret.txt')
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${closed}/files?item=${file}`)
  await page.getByRole('heading', { name: 'No access' }).waitFor()
  await page.waitForLoadState('networkidle')
  assert.equal(await page.getByRole('dialog').count(), 0)
  await close()
})

inBrowser('an upload to a folder that somebody else has deleted says what happened', async b => {
  const { page, close } = await newPerson(b, { refusals: [400] })
  const context = await atFiles(page)
  const made = await admin.post(`${context}?graphtype=list`, {
    metadata: {
      [`${service.base}${context}/resource/_newId`]: {
        'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Harbour' }],
      },
    },
  })
  const { entryId: folder } = made.json<{ entryId: string }>()
  await page.reload()
  await row(page, 'Harbour').getByRole('link', { name: 'Harbour' }).click()
  await page.locator('.empty').waitFor()
  assert.equal((await admin.delete(`${context}/entry/${folder}`)).status, 204)
  await page.setInputFiles('input[type=file]', { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('x') })
  await page.getByText('This folder no longer exists. Someone has deleted it.').first().waitFor()
  await close()
})
