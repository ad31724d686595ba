import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { ADMIN_PASSWORD, newContext, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'
import { enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const service = await startInProcess(
  { after },
  { settings: { 'service.data.quota': 'on', 'service.metrics.token': 'a-very-secret-token' } },
)
const admin = await service.admin()
const inBrowser = await openBrowser()
const anna = await addUser(admin, 'anna@example.org')
const context = await newContext(admin, [anna.id])
await admin.put(context, { alias: 'photos' })

inBrowser('administrators search the sessions of all users and end one', async b => {
  const { page, complaints, close } = await newPerson(b)
  const other = service.visitor()
  await other.signIn(anna.name, GOOD_PASSWORD)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/sessions')
  await page.locator('tbody tr').filter({ hasText: 'admin' }).first().waitFor()
  await page.getByLabel('Search by user, address or device').fill('anna')
  const rows = page.locator('tbody tr')
  await rows.filter({ hasText: 'admin' }).first().waitFor({ state: 'detached' })
  await rows.filter({ hasText: anna.name }).getByRole('button', { name: 'End session' }).click()
  await page.waitForSelector('text=Nothing found.')
  assert.equal((await other.get('auth/user')).json()['id'], '_guest')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('settings can be searched and show no secrets; the checks name the problems', async b => {
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/settings')
  await page.getByLabel('Search settings').fill('metrics.token')
  const row = page.locator('.settings > div').filter({ hasText: 'service.metrics.token' }).first()
  await row.filter({ hasText: '********' }).waitFor()
  assert.ok(!(await page.content()).includes('a-very-secret-token'))
  await page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: 'Checks' }).click()
  await page.locator('tbody tr').filter({ hasText: 'base address: ' }).waitFor()
  await page.locator('.notice[role=status]').waitFor()
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the overview draws graphs of the last day and describes them in text', async b => {
  const { page, complaints, close } = await newPerson(b)
  const body = 'x'.repeat(2048)
  await admin.ask(`${context}?file`, { method: 'POST', body, headers: { 'content-type': 'text/plain' } })
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin')
  await page.waitForSelector('.chart canvas')
  for (const title of ['Requests', 'Sign-ins', 'Stored files', 'Fullest spaces'])
    await page.getByRole('heading', { name: title, exact: true }).waitFor()
  await page.locator('figcaption').filter({ hasText: 'photos: now 2 KiB, at most 2 KiB' }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'the page of a user shows their contexts with the source of each right, e-mail address, sessions and latest events (D14.17, D14.19)',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const group = await admin.post('_principals?graphtype=group', { resource: { name: 'divers', children: [anna.id] } })
    const groupId = group.json<{ entryId: string }>().entryId
    await admin.put(`_principals/resource/${groupId}`, [anna.id])
    const read = [{ type: 'uri', value: `${service.base}_principals/resource/${groupId}` }]
    const reef = await newContext(admin)
    await admin.put(reef, { alias: 'reef' })
    await admin.put(`_contexts/entry/${reef}`, {
      [service.base + reef]: { 'http://entrystore.org/terms/read': read },
    })
    const other = service.visitor()
    await other.signIn(anna.name, GOOD_PASSWORD)
    await enter(page, service.base, 'admin', ADMIN_PASSWORD, `ui/admin/users/${anna.id}?tab=access`)
    const rowOf = (text: string) => page.locator('tbody tr').filter({ hasText: text })
    await rowOf('photos').filter({ hasText: 'shared directly' }).waitFor()
    await rowOf('reef').filter({ hasText: 'member of divers' }).waitFor()
    await page.getByRole('link', { name: 'Activity', exact: true }).click()
    await rowOf('signed in').first().waitFor()
    await page.getByRole('link', { name: 'Sign-in', exact: true }).click()
    await page
      .getByRole('button', { name: /End session/ })
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Profile', exact: true }).click()
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('not an address')
    await page.getByRole('button', { name: 'Save profile' }).click()
    assert.equal((await admin.get(`_principals/metadata/${anna.id}`)).text.includes('mbox'), false)
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('anna@home.example')
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.waitForSelector('text=Saved.')
    assert.match((await admin.get(`_principals/metadata/${anna.id}`)).text, /mailto:anna@home\.example/)
    await requireAccessible(page)
    await page.goto(`${service.base}ui/admin/contexts/${reef}`)
    await rowOf(anna.name).filter({ hasText: 'member of divers' }).waitFor()
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'the overview counts users, groups and contexts as their lists do: system contexts are in neither',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin')
    const counts = page.locator('dl.counts > div')
    for (const title of ['Users', 'Groups', 'Spaces']) {
      const count = counts.filter({ has: page.getByRole('link', { name: title, exact: true }) })
      const shown = Number(await count.locator('dd').innerText())
      await count.getByRole('link').click()
      await page.locator('tbody tr').first().waitFor()
      assert.equal(await page.locator('tbody tr').count(), shown, title)
      await page.goto(`${service.base}ui/admin`)
    }
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('the overview shows the last scheduled backup, and that an attempt has failed', async b => {
  const folder = await temporaryFolder()
  const target = join(folder, 'backups')
  const start = (to: string) =>
    startInProcess(
      { after },
      { settings: { 'service.backup.schedule': '0 0 29 2 *', 'service.backup.target': to, 'service.http.port': '0' } },
    )
  const unusable = join(folder, 'unusable')
  await mkdir(unusable)
  // Where the service keeps the manifests.
  await writeFile(join(unusable, 'generations'), '')
  const [good, bad] = [await start(target), await start(unusable)]
  for (const one of [good, bad]) {
    const caller = await one.admin()
    await eventually(`the attempt of ${one.base} has ended`, async () =>
      /"made"|"problem"/.test((await caller.get('management/status?extended')).text),
    )
  }
  const { page, complaints, close } = await newPerson(b)
  await enter(page, good.base, 'admin', ADMIN_PASSWORD, 'ui/admin')
  const fact = page.locator('dt:text-is("Last backup") + dd')
  await fact.waitFor()
  assert.match((await fact.textContent()) ?? '', /\d.*, 0 (B|bytes?)$/)
  assert.equal(await fact.getByText('The last attempt failed').count(), 0)
  await close()
  const other = await newPerson(b)
  await enter(other.page, bad.base, 'admin', ADMIN_PASSWORD, 'ui/admin')
  await other.page.getByText('The last attempt failed').waitFor()
  const problem = other.page.getByRole('region', { name: 'Needs attention' }).getByRole('link', { name: /1 problem/ })
  await problem.click()
  await other.page.getByText('backups: the last one failed.').waitFor()
  assert.deepEqual([...complaints, ...other.complaints], [])
  await other.close()
})
