import assert from 'node:assert/strict'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { pick, row, startFilesService } from '../support/files-page.ts'
import { ADMIN_PASSWORD } from '../support/service.ts'
import { enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, name, store, filesUrl, atFiles } = await startFilesService()

inBrowser(
  'a page that cannot be loaded without a network says so in the frame, and comes when the network is back',
  async b => {
    const { page, close } = await newPerson(b)
    await enter(page, service.base, name, GOOD_PASSWORD)
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'My account' }).click()
    await page.getByRole('heading', { level: 1, name: 'No connection' }).waitFor()
    const box = await page.getByRole('button', { name: 'Try again' }).boundingBox()
    assert.ok(box && box.height < 60, JSON.stringify(box))
    assert.equal(await page.title(), 'No connection – Stowage')
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'My account' }).waitFor()
    await close()
  },
)

inBrowser('what does not exist and what one may not see have one page each, with one next step', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [403, 404] })
  await enter(page, service.base, name, GOOD_PASSWORD, 'ui/no/such/page')
  await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
  assert.equal(await page.locator('main').getByRole('button').count(), 0, 'another attempt changes nothing')
  await requireAccessible(page)
  await page.getByRole('link', { name: 'Go to my files' }).click()
  await page.getByRole('heading', { level: 1, name: 'My files' }).waitFor()
  await page.goto(`${service.base}ui/admin/users`)
  await page.getByText('This page is for administrators.').waitFor()
  await page.getByRole('link', { name: 'Go to my files' }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'a part of a page that the service did not answer offers another attempt, and a page that is gone the way back',
  async b => {
    const { page, complaints, close } = await newPerson(b, { refusals: [404, 503] })
    await page.route('**/management/users?*', route => route.fulfill({ status: 503, json: { code: 'overloaded' } }), {
      times: 1,
    })
    await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/users')
    await page.getByRole('alert').getByText('The service is busy.').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('tbody tr').first().waitFor()
    await page.goto(`${service.base}ui/admin/users/no-such-user`)
    await page.getByRole('alert').getByRole('link', { name: 'Go to my files' }).waitFor()
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('"New space" on the first page of an administrator opens the dialog', async b => {
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD)
  await page.getByRole('link', { name: 'New space' }).click()
  await page.getByRole('dialog', { name: 'New space' }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'a form that is sent shows that it works; its first wrong field gets the focus, and its error is announced',
  async b => {
    const { page, close } = await newPerson(b, { refusals: [400, 403, 422] })
    await enter(page, service.base, name, GOOD_PASSWORD, 'ui/account')
    await page.getByLabel('Current password').fill('not the password')
    await page.getByLabel('New password', { exact: true }).fill('Another-Rain-2027')
    await page.getByLabel('Repeat').fill('Another-Rain-2027')
    let release = (): void => undefined
    const held = new Promise<void>(resolve => (release = resolve))
    await page.route('**/_principals/resource/**', async route => {
      await held
      await route.continue()
    })
    const button = page.getByRole('button', { name: 'Change password' })
    await button.click()
    await page.locator('button[type=submit][aria-busy=true]', { hasText: 'Change password' }).waitFor()
    release()
    await page.locator('p.error[role=alert]').waitFor()
    assert.equal(await page.getByLabel('Current password').evaluate(field => field === document.activeElement), true)
    assert.equal(await button.getAttribute('aria-busy'), 'false')
    await close()
  },
)

inBrowser('a dialog without a field gives its first button the focus, however long its title is', async b => {
  const { page, close } = await newPerson(b)
  const context = await atFiles(page)
  const long = `${'a-long-name-'.repeat(16)}.txt`
  await store(context, long, 'text')
  await page.goto(filesUrl(context))
  await row(page, 'a-long-name').waitFor()
  await pick(page, long, 'Replace file')
  await page.getByRole('dialog').waitFor()
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'BUTTON')
  await close()
})

inBrowser('the overview is as high as its content, and names the disk', async b => {
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin')
  const ready = page.locator('.notice.state')
  await ready.waitFor()
  assert.ok(((await ready.boundingBox())?.height ?? 0) < 120)
  await page.getByText('Disk', { exact: true }).waitFor()
  await page.locator('.chart').first().waitFor()
  assert.equal(await page.getByText('_principals').count(), 0)
  assert.deepEqual(complaints, [])
  await close()
})
