import assert from 'node:assert/strict'
import { openTray } from '../support/files-page.ts'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { ADMIN_PASSWORD, newContext, startInProcess } from '../support/service.ts'
import { newPerson, openBrowser, enter } from '../support/ui.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const inBrowser = await openBrowser()

const MEGA = 1_048_576
const quotaOf = async (context: string) => (await admin.get(`${context}/quota`)).json()

inBrowser(
  'first steps of an administrator: create a user, a context for that user, and a quota that rejects a second file',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    await enter(page, service.base, 'admin', ADMIN_PASSWORD)
    await page.goto(`${service.base}ui/admin/users`)
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByLabel('User name', { exact: true }).fill('anna')
    await page.getByLabel('New password', { exact: true }).fill(GOOD_PASSWORD)
    await page.getByLabel(/^Temporary/).uncheck()
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.waitForSelector('h1:text("anna")')
    await page.goto(`${service.base}ui/admin/contexts`)
    await page.getByRole('button', { name: 'New space' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Photos')
    await dialog.getByLabel('Owner').fill('anna')
    await dialog.getByLabel('Quota').fill('1,5')
    await dialog.getByLabel('Unit').selectOption('MiB')
    await page.getByRole('button', { name: 'Create space' }).click()
    await page.waitForSelector('h1:text("Photos")')
    assert.deepEqual(await quotaOf('Photos'), { quota: 1.5 * MEGA, fillLevel: 0, hasDefaultQuota: false })
    await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/auth\/login/)

    await enter(page, service.base, 'anna', GOOD_PASSWORD)
    await page.getByRole('link', { name: 'Photos', exact: true }).click()
    const file = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.alloc(MEGA) })
    await page.waitForSelector('.files-bar .new')
    await page.setInputFiles('input[type=file]', file('one.png'))
    await openTray(page)
    await page.waitForSelector('text=Uploaded, 1 MiB')
    await page.setInputFiles('input[type=file]', file('two.png'))
    await page.waitForSelector(
      'text=Does not fit: it needs 1 MiB, but only 512 KiB of 1.5 MiB were free. 512 KiB too much.',
    )
    assert.equal((await quotaOf('Photos'))['fillLevel'], MEGA)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('a quota is set with a unit, made unlimited and removed; an invalid size is explained (D7.1)', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await newContext(admin)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD)
  await page.goto(`${service.base}ui/admin/contexts/${context}`)
  const amount = page.getByLabel('New quota')
  const set = page.getByRole('button', { name: 'Set quota' })
  await amount.fill('a lot')
  await set.click()
  await page.waitForSelector('.error:text("Enter a size such as 500")')
  await amount.fill('2')
  await page.getByLabel('Unit').selectOption('KiB')
  await set.click()
  await page.waitForSelector('text=0 B of 2 KiB used, 2 KiB free')
  assert.deepEqual(await quotaOf(context), { quota: 2048, fillLevel: 0, hasDefaultQuota: false })
  await amount.fill('500M')
  await set.click()
  await page.waitForSelector('text=0 B of 500 MiB used')
  assert.equal((await quotaOf(context))['quota'], 500 * MEGA)
  await page.getByRole('button', { name: 'No limit' }).click()
  await page.waitForSelector('text=0 B used, no limit')
  assert.deepEqual(await quotaOf(context), { quota: -1, fillLevel: 0, hasDefaultQuota: false })
  await page.getByRole('button', { name: 'Use the default' }).click()
  await page.waitForSelector('text=The default quota of the service applies.')
  assert.equal((await quotaOf(context))['hasDefaultQuota'], true)

  // How many files there are stands on the page and in the list, with the limit where there is one.
  await page.getByText('0 files', { exact: true }).waitFor()
  for (const name of ['one', 'two']) await admin.post(`${context}?file&name=${name}`, name)
  await page.reload()
  await page.getByText('2 files', { exact: true }).waitFor()
  await page.getByLabel('Maximum number of files').fill('5')
  await set.click()
  await page.getByText('2 of 5 files').waitFor()
  await page.goto(`${service.base}ui/admin/contexts`)
  await page.getByRole('row').filter({ hasText: context }).getByText('2 files').waitFor()

  // The audit log of a space has the uploads to it.
  await page.goto(`${service.base}ui/admin/contexts/${context}`)
  await page.getByRole('link', { name: 'Events' }).click()
  await page.waitForURL(/admin\/audit/)
  assert.equal(await page.getByLabel('Space or item (space/ID)').inputValue(), context)
  await page
    .locator('tbody tr')
    .filter({ hasText: /admin uploaded/ })
    .nth(1)
    .waitFor()
  await page.locator('tbody tr').filter({ hasText: 'created the space' }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a context is renamed, shared with users by name, and the access is revoked', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [409] })
  const olga = await addUser(admin, 'olga')
  await addUser(admin, 'peter')
  const [context, other] = [await newContext(admin, [olga.id]), await newContext(admin)]
  await admin.put(other, { alias: 'Occupied' })
  await enter(page, service.base, 'admin', ADMIN_PASSWORD)
  await page.goto(`${service.base}ui/admin/contexts/${context}`)
  await page.waitForSelector('tbody tr:has-text("olga")')
  const name = page.getByLabel('Name in addresses')
  await name.fill('Occupied')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.waitForSelector('.error:text("This name is taken.")')
  await name.fill('Harbour')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.waitForSelector('h1:text("Harbour")')
  assert.equal((await admin.get('Harbour/quota')).status, 200)

  const allow = async (who: string, role: string): Promise<void> => {
    await page.getByLabel('User or group').fill(who)
    await page.getByLabel('Permission', { exact: true }).selectOption(role)
    await page.getByRole('button', { name: 'Grant access' }).click()
  }
  await allow('nobody-of-that-name', 'writer')
  await page.waitForSelector('.error:text("There is no user or group with this name.")')
  await allow('peter', 'writer')
  await page.waitForSelector('tbody tr:has-text("peter")')
  const visitor = service.visitor()
  await visitor.signIn('peter', GOOD_PASSWORD)
  assert.equal((await visitor.post(context)).status, 201)
  assert.equal((await visitor.put(`_contexts/entry/${context}`, {})).status, 403, 'not his own')
  await page.getByRole('button', { name: 'Remove peter: read and write' }).click()
  await page.waitForSelector('tbody tr:has-text("peter")', { state: 'detached' })
  assert.equal((await visitor.post(context)).status, 403)
  await page.waitForSelector('tbody tr:has-text("olga")')
  assert.ok((await admin.get(`_contexts/entry/${context}`)).text.includes(`resource/${olga.id}`))
  // The browser reports the name that nobody has.
  assert.deepEqual(
    complaints.filter(complaint => !complaint.includes('404')),
    [],
  )
  await close()
})

inBrowser('contexts are searched and sorted by how full they are, each with a bar', async b => {
  const { page, complaints, close } = await newPerson(b)
  for (const [name, quota, size] of [
    ['bars-low', 1000, 100],
    ['bars-full', 1000, 1000],
    ['bars-most', 100_000, 5000],
  ] as const) {
    const context = await newContext(admin)
    await admin.put(context, { alias: name, quota })
    await admin.post(`${context}?id=file`)
    await admin.ask(`${context}/resource/file`, { method: 'PUT', body: 'x'.repeat(size) })
  }
  await enter(page, service.base, 'admin', ADMIN_PASSWORD)
  await page.goto(`${service.base}ui/admin/contexts?query=bars-`)
  const names = () => page.locator('tbody tr .strong').allInnerTexts()
  await page.waitForSelector('tbody tr')
  assert.deepEqual(await names(), ['bars-full', 'bars-low', 'bars-most'])
  await page.getByLabel('Order').selectOption('used')
  await page.waitForFunction(() => document.querySelector('tbody tr .strong')?.textContent === 'bars-most')
  await page.getByLabel('Order').selectOption('fullness')
  await page.waitForFunction(() => document.querySelector('tbody tr .strong')?.textContent === 'bars-full')
  assert.deepEqual(await names(), ['bars-full', 'bars-low', 'bars-most'])
  const bars = page.getByRole('meter')
  assert.equal(await bars.first().getAttribute('aria-valuenow'), '100')
  assert.deepEqual(complaints, [])
  await close()
})
