import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { ADMIN_PASSWORD, newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { base64, newUpload } from '../support/tus.ts'
import { pick } from '../support/files-page.ts'
import { putFile } from '../support/uploads.ts'
import { enter, newPerson, openBrowser } from '../support/ui.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const inBrowser = await openBrowser()

const KIBI = 1024
const quotaOf = async (owner: string) => (await admin.get(`quota/${owner}`)).json()

inBrowser('a user sees a bar for each quota that applies, and an administrator sets it on their page', async b => {
  const { page, complaints, close } = await newPerson(b)
  const anna = await addUser(admin, 'anna')
  const context = await newContext(admin, [anna.id])
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, `ui/admin/users/${anna.id}?tab=access`)
  await page.getByLabel('New quota').fill('2')
  await page.getByLabel('Unit').selectOption('KiB')
  await page.getByLabel('Maximum number of files').fill('many')
  await page.getByRole('button', { name: 'Set quota' }).click()
  await page.getByText('Enter a whole number, or leave the field empty.').waitFor()
  await page.getByLabel('Maximum number of files').fill('3')
  await page.getByRole('button', { name: 'Set quota' }).click()
  await page.getByText('0 of 3 files').waitFor()
  const { quota, maxFiles } = await quotaOf(`users/${anna.id}`)
  assert.deepEqual({ quota, maxFiles }, { quota: 2048, maxFiles: 3 })

  await enter(page, service.base, 'anna', GOOD_PASSWORD, 'ui/account')
  await page.getByText('Your files: 0 B of 2 KiB used, 2 KiB free').waitFor()
  await page.goto(`${service.base}ui/contexts/${context}/files`)
  await page.getByText('Your files: 0 of 3 files').waitFor()
  await page.waitForSelector('.files-bar .new')
  await page.setInputFiles('input[type=file]', { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.alloc(1024) })
  await page.getByText('Your files: 1 of 3 files').waitFor()
  await page.getByText('Your files: 1 KiB of 2 KiB used, 1 KiB free').waitFor()

  await enter(page, service.base, 'admin', ADMIN_PASSWORD, `ui/admin/users/${anna.id}?tab=access`)
  await page.getByRole('button', { name: 'Use the default' }).click()
  await page.getByText('The default quota of the service applies.').first().waitFor()
  assert.equal((await quotaOf(`users/${anna.id}`))['hasDefaultQuota'], true)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('an administrator creates a group of spaces, chooses its spaces, limits it and deletes it', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [404, 409] })
  const context = await newContext(admin)
  await admin.put(context, { alias: 'Harbour' })
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/quotas')
  const create = async (): Promise<void> => {
    await page.getByRole('button', { name: 'New group of spaces' }).click()
    await page.getByRole('dialog').getByLabel('Group of spaces').fill('lab')
    await page.getByRole('button', { name: 'Create group' }).click()
  }
  await create()
  await page.waitForSelector('h1:text("lab")')
  await page.getByLabel('Add space by name or ID').fill('Harbour')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Remove Harbour' }).waitFor()
  assert.deepEqual((await quotaOf('groups/lab'))['contexts'], [context])
  await page.getByLabel('New quota').fill('5')
  await page.getByRole('button', { name: 'Set quota' }).click()
  await page.getByText('0 B of 5 GiB used').waitFor()
  assert.deepEqual((await quotaOf('groups/lab'))['contexts'], [context], 'a new quota keeps the spaces')
  await page.getByRole('button', { name: 'Remove Harbour' }).click()
  await page.getByText('No spaces in this group.').waitFor()
  assert.equal((await quotaOf('groups/lab'))['quota'], 5 * 2 ** 30, 'other spaces keep the quota')

  await page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: 'Quotas' }).click()
  await page.getByRole('link', { name: 'lab' }).waitFor()
  await create()
  await page.getByText('This name is taken.').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'lab' }).click()
  await page.getByRole('button', { name: 'Delete group' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('lab')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete group' }).click()
  await page.waitForSelector('h1:text("Quotas")')
  assert.equal((await admin.get('quota/groups/lab')).status, 404)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('an administrator limits the store, and sees who has reached 80 % of a quota', async b => {
  const { page, complaints, close } = await newPerson(b)
  for (const [name, quota] of [
    ['full', 10],
    ['half', 20],
  ] as const) {
    const { id } = await addUser(admin, name)
    const context = await newContext(admin, [id])
    const user = service.visitor()
    await user.signIn(name, GOOD_PASSWORD)
    await user.post(`${context}?id=one`)
    assert.equal((await putFile(user, `${context}/resource/one`, 'x'.repeat(10))).status, 201)
    await admin.put(`quota/users/${id}`, { quota })
  }
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/quotas')
  const users = page.getByRole('region', { name: 'Users who store the most' })
  await users.getByRole('link', { name: 'half' }).waitFor()
  const spaces = page.getByRole('region', { name: 'Largest spaces' })
  await spaces.getByRole('link', { name: 'Users and groups' }).waitFor()
  assert.equal(await spaces.getByText('_principals').count(), 0)
  await page.getByLabel('Only above 80 %').check()
  await users.getByRole('link', { name: 'half' }).waitFor({ state: 'detached' })
  await users.getByRole('link', { name: 'full' }).waitFor()
  const store = page.getByRole('region', { name: 'Whole service' })
  await store.getByLabel('New quota').fill('7')
  await store.getByRole('button', { name: 'Set quota' }).click()
  await store.getByText(/of 7 GiB used/).waitFor()
  assert.equal((await quotaOf('store'))['quota'], 7 * 2 ** 30)
  await store.getByRole('button', { name: 'No limit' }).click()
  await store.getByText(/of 7 GiB used/).waitFor({ state: 'detached' })
  assert.equal((await quotaOf('store'))['quota'], -1)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('owners of a quota see what uploads of others reserve of it, and end them (D42.7)', async b => {
  const { page, complaints, close } = await newPerson(b)
  const [{ id: owner }, { id: sender }] = [await addUser(admin, 'olga'), await addUser(admin, 'sven')]
  const context = await newContext(admin, [owner, sender])
  const [olga, sven] = [service.visitor(), service.visitor()]
  await olga.signIn('olga', GOOD_PASSWORD)
  await sven.signIn('sven', GOOD_PASSWORD)
  const entry = `${context}/${await newEntry(olga, context)}`
  const places = ['ui/account', `ui/contexts/${context}/sharing`]
  for (const place of places) {
    await newUpload(sven, entry, 3 * KIBI, { 'upload-metadata': `filename ${base64('plan.pdf')}` })
    await enter(page, service.base, 'olga', GOOD_PASSWORD, place)
    await page.getByText('3 KiB reserved for uploads in progress').waitFor()
    await page.getByRole('cell', { name: 'sven', exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'End upload of plan.pdf' }).click()
    await page.getByText('3 KiB reserved for uploads in progress').waitFor({ state: 'detached' })
  }
  await newUpload(sven, entry, 3 * KIBI)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, `ui/admin/users/${owner}?tab=access`)
  await page.getByRole('button', { name: /^End upload of/ }).click()
  await page.getByText('3 KiB reserved for uploads in progress').waitFor({ state: 'detached' })
  const { reserved } = await quotaOf(`users/${owner}`)
  assert.equal(reserved, 0)
  assert.deepEqual(complaints, [])
  await close()
})

const textFile = (name: string, size: number) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'x') })

inBrowser(
  'administrators see bars of the group of a space and of the service, users only that one is full',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const bert = await addUser(admin, 'bert')
    const context = await newContext(admin, [bert.id])
    await admin.put('quota/groups/pier', { quota: 4 * KIBI, maxFiles: 5, contexts: [context] })
    const { fillLevel, files } = await quotaOf('store')
    await admin.put('quota/store', { quota: Number(fillLevel) + 10 * KIBI, maxFiles: Number(files) + 4 })

    await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/account')
    await page.getByText(/^Whole service: .* used, 10 KiB free$/).waitFor()
    await page.getByText(`Whole service: ${Number(files)} of ${Number(files) + 4} files`).waitFor()
    await page.goto(`${service.base}ui/contexts/${context}/files`)
    await page.waitForSelector('.files-bar .new')
    await page.getByText('Group of spaces pier: 0 of 5 files').waitFor()
    await page.setInputFiles('input[type=file]', textFile('one.txt', KIBI))
    await page.getByText('Group of spaces pier: 1 KiB of 4 KiB used, 3 KiB free').waitFor()
    await page.getByText('Group of spaces pier: 1 of 5 files').waitFor()
    await page.getByText(/^Whole service: .* used, 9 KiB free$/).waitFor()
    await page.getByText(`Whole service: ${Number(files) + 1} of ${Number(files) + 4} files`).waitFor()
    const level = page.getByRole('meter', { name: 'Storage used in Group of spaces pier' })
    assert.equal(await level.getAttribute('aria-valuenow'), '25')
    await admin.put('quota/groups/pier', { quota: KIBI })

    await enter(page, service.base, 'bert', GOOD_PASSWORD, `ui/contexts/${context}/files`)
    await page.getByText('Group of this space: full.').waitFor()
    assert.equal(await page.getByText(/pier|Whole service/).count(), 0)
    await admin.delete('quota/store')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('the reason of a refused upload names whose quota is full', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [413] })
  const [carl, dora] = [await addUser(admin, 'carl'), await addUser(admin, 'dora')]
  const context = await newContext(admin, [carl.id, dora.id])
  const visitor = service.visitor()
  await visitor.signIn('dora', GOOD_PASSWORD)
  const disposition = { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="of dora.txt"' }
  const made = await visitor.ask(`${context}?file`, { method: 'POST', body: 'x', headers: disposition })
  assert.equal(made.status, 201, made.text)
  const free = 2 * KIBI
  const limit = async (owner: string, others = {}): Promise<void> => {
    const { fillLevel } = owner.startsWith('groups/') ? { fillLevel: 1 } : await quotaOf(owner)
    const set = await admin.put(`quota/${owner}`, { quota: Number(fillLevel) + free, ...others })
    assert.equal(set.status, 200, set.text)
  }
  await enter(page, service.base, 'carl', GOOD_PASSWORD, `ui/contexts/${context}/files`)
  await page.waitForSelector('.files-bar .new')
  const refusal = page.locator('.upload .error')
  const unlimited = { quota: -1 }
  const inNumbers = 'Does not fit: it needs 5 KiB, but only 2 KiB of '
  const withoutNumbers = 'Does not fit, too little space is left.'
  for (const [owner, others, reason] of [
    [`users/${carl.id}`, {}, `Your files: ${inNumbers}`],
    ['groups/quay', { contexts: [context] }, `Group of this space: ${withoutNumbers}`],
    ['store', {}, `Whole service: ${withoutNumbers}`],
    [`contexts/${context}`, {}, `This space: ${inNumbers}`],
  ] as const) {
    await limit(owner, others)
    await page.setInputFiles('input[type=file]', textFile('large.txt', 5 * KIBI))
    await refusal.filter({ hasText: reason }).waitFor()
    await admin.put(`quota/${owner}`, unlimited)
    await page.getByRole('button', { name: 'Remove large.txt from the list' }).click()
    await refusal.waitFor({ state: 'detached' })
  }
  await admin.put(`quota/users/${dora.id}`, { quota: -1, maxFiles: 1 })
  await admin.put(`quota/users/${carl.id}`, { quota: -1, maxFiles: 0 })
  await page.setInputFiles('input[type=file]', textFile('one more.txt', 1))
  await refusal.filter({ hasText: 'Your files: No more files fit: 0 are allowed.' }).waitFor()
  await limit(`users/${dora.id}`)
  await pick(page, 'of dora.txt', 'Replace file')
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose file' }).click()
  await (await choosing).setFiles(textFile('of dora.txt', 5 * KIBI))
  await refusal.filter({ hasText: `Files of another user: ${withoutNumbers}` }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the audit log tells whose quota was changed or reached, in the language of the reader', async b => {
  const { page, complaints, close } = await newPerson(b)
  const bert = await newUser(service, admin)
  const context = await newContext(admin, [bert.id])
  assert.equal((await admin.put('quota/groups/lab', { quota: 4 * KIBI, contexts: [context] })).status, 200)
  assert.equal((await admin.put('quota/store', { quota: 1024 * KIBI })).status, 200)
  assert.equal((await admin.put(`quota/users/${bert.id}`, { quota: 4 * KIBI, maxFiles: -1 })).status, 200)
  const entry = await newEntry(bert.visitor, context)
  assert.equal((await putFile(bert.visitor, `${context}/resource/${entry}`, 'x'.repeat(4 * KIBI))).status, 201)
  assert.equal((await admin.put('quota/store', { quota: -1 })).status, 200)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/audit')
  for (const sentence of [
    'admin set the quota of the group of spaces lab to 4 KiB.',
    `admin set the quota of ${bert.name} to 4 KiB.`,
    'The group of spaces lab is 100 % full.',
    `The quota of ${bert.name} is 100 % used.`,
    'admin removed the limit on the size of the whole service.',
  ]) {
    await page.locator('p.said', { hasText: sentence }).first().waitFor()
  }
  await page.getByText('maximum number of files: no limit').first().waitFor()
  assert.deepEqual(complaints, [])
  await close()
})
