import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addAuditEvents, auditEvents } from '../../src/accounts/audit.ts'
import { features } from '../../src/features/features.ts'
import { en } from '../../ui/messages/en.ts'
import { test } from 'node:test'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { MEGA, startFilesService } from '../support/files-page.ts'
import { ADMIN_PASSWORD, newContext } from '../support/service.ts'
import { desktop, enter, escape, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, store } = await startFilesService()

const asAdmin = (page: Page, path: string): Promise<void> =>
  enter(page, service.base, 'admin', ADMIN_PASSWORD, `ui/${path}`)
const rowOf = (page: Page, text: string) => page.locator('tbody tr').filter({ hasText: text })
const newGroup = async (name: string): Promise<string> =>
  (await admin.post('_principals?graphtype=group', { resource: { name } })).json<{ entryId: string }>().entryId

inBrowser('a user gets full name, space, quota and groups in one step, and finds the space at once', async b => {
  const { page, complaints, close } = await newPerson(b)
  const group = await newGroup('divers')
  await asAdmin(page, 'admin/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('User name').fill('Karin@example.org')
  await dialog.getByLabel('Full name').fill('Karin Ström')
  await dialog.getByLabel('Quota (optional)').fill('5')
  await dialog.getByLabel('Unit').selectOption('MiB')
  await dialog.getByLabel('divers').check()
  await dialog.getByLabel('New password', { exact: true }).fill(GOOD_PASSWORD)
  await dialog.getByLabel(/^Temporary/).uncheck()
  await dialog.getByRole('button', { name: 'Create user' }).click()
  await page.getByRole('heading', { level: 1, name: 'Karin Ström' }).waitFor()
  const karin = service.visitor()
  assert.equal((await karin.signIn('karin@example.org', GOOD_PASSWORD)).status, 200)
  const me = (await karin.get('auth/user')).json<{ id: string; homecontext: string }>()
  const quota = (await karin.get(`${me.homecontext}/quota`)).json()
  assert.deepEqual(quota, { quota: 5 * MEGA, fillLevel: 0, hasDefaultQuota: false })
  assert.equal((await karin.post(me.homecontext)).status, 201, 'the space is theirs')
  const { children } = (await admin.get(`_principals/resource/${group}`)).json<{ children: object[] }>()
  assert.equal(children.length, 1)

  await page.goto(`${service.base}ui/admin/users?query=karin`)
  const row = rowOf(page, 'Karin Ström')
  for (const text of ['karin@example.org', 'just now', '5 MiB']) await row.filter({ hasText: text }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
  const own = await newPerson(b)
  await enter(own.page, service.base, 'karin@example.org', GOOD_PASSWORD)
  await own.page.getByRole('link', { name: 'Karin Ström' }).waitFor()
  assert.deepEqual(own.complaints, [])
  await own.close()
})

inBrowser('a user who cannot get a group is not created, and the dialog keeps what was typed', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [400] })
  const group = await newGroup('leavers')
  await asAdmin(page, 'admin/users')
  await page.getByRole('button', { name: 'New user' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('User name').fill('lena')
  await dialog.getByLabel('leavers').check()
  assert.equal((await admin.delete(`_principals/entry/${group}`)).status, 204)
  await dialog.getByRole('button', { name: 'Create user' }).click()
  await dialog.getByText('One of the groups no longer exists. Nothing was created.').waitFor()
  assert.equal((await admin.get('management/users?query=lena')).json()['results'], 0)
  await dialog.getByLabel('leavers').uncheck()
  await dialog.getByRole('button', { name: 'Create user' }).click()
  await page.getByRole('heading', { level: 1, name: 'lena' }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('groups, spaces and the own space are changed at the user', async b => {
  const { page, complaints, close } = await newPerson(b)
  const { id, name } = await addUser(admin, 'sven@example.org')
  const group = await newGroup('sailors')
  const context = await newContext(admin)
  await admin.put(context, { alias: 'boats' })
  await asAdmin(page, `admin/users/${id}?tab=access`)
  await page.getByLabel('Add to group').fill('sailors')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await rowOf(page, 'sailors').waitFor()
  const membersOf = async (): Promise<number> =>
    (await admin.get(`_principals/resource/${group}`)).json<{ children: object[] }>().children.length
  assert.equal(await membersOf(), 1)
  await page.getByRole('button', { name: 'Remove sailors' }).click()
  await rowOf(page, 'sailors').waitFor({ state: 'detached' })
  assert.equal(await membersOf(), 0)

  await page.getByLabel('Space (name or ID)').fill('boats')
  await page.getByLabel('Permission').selectOption('owner')
  await page.getByRole('button', { name: 'Grant access' }).click()
  await rowOf(page, 'boats').filter({ hasText: 'owner' }).waitFor()
  await page.reload()
  await page.getByRole('combobox', { name: 'Own space' }).selectOption({ label: 'boats' })
  await page.locator('.toast').filter({ hasText: 'Saved.' }).waitFor()
  const home = async (): Promise<unknown> => (await admin.get(`_principals/resource/${id}`)).json()['homecontext']
  assert.equal(await home(), context)
  await requireAccessible(page)

  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Delete user' }).click()
  await page.getByRole('dialog').getByText('lose their last owner').waitFor()
  await page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'boats' }).waitFor()
  await escape(page)
  await page.getByRole('button', { name: 'Remove boats: owner (all rights)' }).click()
  await rowOf(page, 'boats').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a user without a space gets one on their page', async b => {
  const { page, complaints, close } = await newPerson(b)
  const { id, name } = await addUser(admin, 'spaceless@example.org')
  await asAdmin(page, `admin/users/${id}?tab=access`)
  await page.getByText('This user has no space yet.').waitFor()
  await page.getByRole('button', { name: 'Create space' }).click()
  await page.getByRole('region', { name: 'Own space' }).getByRole('link', { name }).waitFor()
  const { homecontext } = (await admin.get(`_principals/resource/${id}`)).json<{ homecontext: string }>()
  const visitor = service.visitor()
  await visitor.signIn(name, GOOD_PASSWORD)
  assert.equal((await visitor.post(homecontext)).status, 201)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the audit log answers what a person did, in a sentence with links', async b => {
  const { page, complaints, close } = await newPerson(b, desktop)
  const { id, name } = await addUser(admin, 'maria@example.org')
  const about = `${service.base}_principals/resource/${id}`
  const fullName = { 'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Maria Nyström' }] }
  assert.equal((await admin.put(`_principals/metadata/${id}`, { [about]: fullName })).status, 204)
  const context = await newContext(admin, [id])
  await admin.put(context, { alias: 'marine' })
  const entry = await store(context, 'notes.txt')
  const maria = service.visitor()
  await maria.signIn(name, GOOD_PASSWORD)
  assert.equal((await maria.post(`${context}/trash/${entry}`)).status, 204)
  await asAdmin(page, 'admin/audit')
  await page.getByLabel('User (name or ID)').fill('mari')
  await page.getByLabel('Kind of event').selectOption('entry-trashed')
  const row = rowOf(page, 'Maria Nyström (maria@example.org) moved notes.txt in marine to the trash.')
  await row.waitFor()
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)
  await row.getByRole('link', { name: 'marine' }).click()
  await page.getByRole('heading', { level: 1, name: 'marine' }).waitFor()

  await page.goto(`${service.base}ui/admin/audit?user=${id}&event=access-changed`)
  await rowOf(page, 'changed who has access to marine.')
    .filter({ hasText: 'Maria Nyström' })
    .waitFor({ state: 'detached' })
  await page.goto(`${service.base}ui/admin/audit?event=access-changed`)
  await rowOf(page, 'admin changed who has access to marine.')
    .filter({ hasText: '+ Maria Nyström (maria@example.org): owner' })
    .waitFor()
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()
})

test('each audit event has a sentence, and no feature declares one that exists', () => {
  const ofFeatures = features.map(({ events }) => events).filter(({ length }) => length > 0)
  assert.ok(ofFeatures.length > 0)
  for (const some of ofFeatures) assert.throws(() => addAuditEvents(some), /declared twice/)
  // An event of several kinds has one for each.
  const sentences = Object.keys(en)
  assert.deepEqual(
    auditEvents.filter(event => !sentences.some(key => key === `said.${event}` || key.startsWith(`said.${event}.`))),
    [],
  )
})

inBrowser('on a phone the parts of the administration are in a drawer', async b => {
  const { page, complaints, close } = await newPerson(b, { ...phone, colorScheme: 'dark' })
  await asAdmin(page, 'admin/users')
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  const drawer = page.getByRole('dialog', { name: 'Administration' })
  assert.equal(await drawer.getByRole('link', { name: 'Users' }).getAttribute('aria-current'), 'page')
  for (const subject of ['People', 'Content', 'Sign-in', 'Service'])
    await drawer.getByRole('list', { name: subject }).waitFor()
  await requireAccessible(page)
  await drawer.getByRole('link', { name: 'Audit log' }).click()
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
  await drawer.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('settings are grouped by area with their meaning, the changed ones first', async b => {
  const { page, complaints, close } = await newPerson(b, desktop)
  // A service inside the process of the test has no file of settings.
  await page.route('**/management/settings', async route => {
    const response = await route.fetch()
    const { settings } = (await response.json()) as { settings: ReadonlyArray<{ key: string }> }
    const json = settings.map(one => (one.key === 'service.data.max-file-size' ? { ...one, origin: 'file' } : one))
    await route.fulfill({ response, json: { settings: json } })
  })
  await asAdmin(page, 'admin/settings')
  const changed = page.getByRole('region', { name: 'Changed' })
  await changed.getByText('service.data.max-file-size', { exact: true }).waitFor()
  await page
    .locator('summary')
    .filter({ hasText: /^Files/ })
    .click()
  await page.getByLabel('Search settings').fill('idle-timeout')
  await page.getByText('How long a request body may pause').waitFor()
  await page.getByLabel('Search settings').fill('service.http.host')
  await page.locator('.settings').getByText('Address to listen on').waitFor()
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the overview lists what needs attention, with links', async b => {
  const { page, complaints, close } = await newPerson(b, desktop)
  const context = await newContext(admin)
  await admin.put(context, { alias: 'fullspace', quota: 1000 })
  await store(context, 'big.bin', 'x'.repeat(950))
  await asAdmin(page, 'admin')
  await page
    .getByRole('region', { name: 'Needs attention' })
    .getByRole('link', { name: 'fullspace is 95% full' })
    .click()
  await page.getByRole('heading', { level: 1, name: 'fullspace' }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the name of a group is shown as it was typed, also after it is renamed', async b => {
  const { page, complaints, close } = await newPerson(b)
  await asAdmin(page, 'admin/groups')
  await page.getByRole('button', { name: 'New group' }).click()
  await page.getByRole('dialog').getByLabel('Group').fill('Deep Divers')
  await page.getByRole('button', { name: 'Create group' }).click()
  await page.getByRole('heading', { level: 1, name: 'Deep Divers', exact: true }).waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Free Divers')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { level: 1, name: 'Free Divers', exact: true }).waitFor()
  await page.locator('main').getByRole('link', { name: 'Groups' }).click()
  await rowOf(page, 'Free Divers').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})
