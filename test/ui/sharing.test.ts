import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { newContext, startInProcess } from '../support/service.ts'
import { newPerson, openBrowser, requireAccessible, enter } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const inBrowser = await openBrowser()

const anna = await addUser(admin, 'anna@example.org')
const ben = await addUser(admin, 'ben@example.org')

test('signed-in users find other users by their full name only; guests find none (D18.14)', async () => {
  const visitor = service.visitor()
  assert.equal((await visitor.get('auth/principals?name=ben@example.org')).status, 401)
  await visitor.signIn(anna.name, GOOD_PASSWORD)
  assert.deepEqual((await visitor.get('auth/principals?name=BEN@example.org')).json(), { id: ben.id })
  assert.deepEqual((await visitor.get('auth/principals?name=users')).json(), { id: '_users' })
  for (const name of ['ben', 'ben@example.or', '%25', '']) {
    const { status } = await visitor.get(`auth/principals?name=${name}`)
    assert.ok(status === 404 || status === 400, `${name}: ${status}`)
  }
})

inBrowser(
  'an owner shares a context for reading; the other user finds it until the access is revoked; making it public needs a confirmation',
  async b => {
    const context = await newContext(admin, [anna.id])
    const { page, complaints, close } = await newPerson(b, { refusals: [404] })
    await enter(page, service.base, anna.name, GOOD_PASSWORD)
    await page.click('.tile a')
    await page.waitForSelector('.files-bar .new')
    await page.getByRole('link', { name: 'Share', exact: true }).click()
    await page.waitForSelector('tbody tr:has-text("anna@example.org")')
    await requireAccessible(page)
    const grant = async (name: string): Promise<void> => {
      await page.getByLabel('User or group').fill(name)
      await page.getByRole('button', { name: 'Grant access' }).click()
    }
    await grant('nobody@example.org')
    await page.waitForSelector('.error:text("There is no user or group with this name.")')
    assert.equal(
      await page.getByLabel('Permission', { exact: true }).inputValue(),
      'reader',
      'the least is offered first',
    )
    await page.getByLabel('Permission', { exact: true }).selectOption('writer')
    assert.equal(
      await page.getByLabel('Permission', { exact: true }).inputValue(),
      'writer',
      'the first choice after an error counts',
    )
    await page.getByLabel('Permission', { exact: true }).selectOption('reader')
    await grant(ben.name)
    await page.waitForSelector('tbody tr:has-text("ben@example.org")')

    const other = await newPerson(b)
    await enter(other.page, service.base, ben.name, GOOD_PASSWORD)
    await other.page.getByRole('link', { name: 'Shared with me', exact: true }).click()
    await other.page.click('.tile a')
    await other.page.waitForSelector('text=You can read the files here')
    await other.page.goto(`${service.base}ui/contexts/${context}/sharing`)
    await other.page.waitForSelector('text=Only owners of a space can see and change who has access to it.')

    await page.getByRole('button', { name: 'Remove ben@example.org: read' }).click()
    await page.waitForSelector('tbody tr:has-text("ben@example.org")', { state: 'detached' })
    await other.page.goto(`${service.base}ui/shared`)
    await other.page.waitForSelector('text=Nobody has shared files or folders with you yet.')

    await grant('guest')
    await page.getByRole('dialog', { name: 'Make it public?' }).getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await service.visitor().get(context)).status, 401)
    assert.deepEqual([...complaints, ...other.complaints], [])
    await other.close()
    await close()
  },
)

inBrowser('those with whom a space is shared see its title, not its id, until their access is removed', async b => {
  const context = await newContext(admin, [anna.id])
  const subject = service.base + context
  const title = { [subject]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Field notes' }] } }
  assert.equal((await admin.put(`_contexts/metadata/${context}`, title)).status, 204)
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, anna.name, GOOD_PASSWORD, `ui/contexts/${context}/sharing`)
  await page.getByLabel('User or group').fill(ben.name)
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.waitForSelector('tbody tr:has-text("ben@example.org")')

  const other = await newPerson(b)
  await enter(other.page, service.base, ben.name, GOOD_PASSWORD, 'ui/shared')
  const tile = other.page.locator('.tile').filter({ hasText: 'Field notes' })
  await tile.getByText('by anna@example.org').waitFor()
  await tile.getByRole('link').click()
  await other.page.getByRole('heading', { name: 'Field notes' }).waitFor()
  const visitor = service.visitor()
  await visitor.signIn(ben.name, GOOD_PASSWORD)
  assert.equal((await visitor.get(`_contexts/metadata/${context}`)).status, 200)
  await page.getByRole('button', { name: /Remove ben@example.org/ }).click()
  await page.waitForSelector('tbody tr:has-text("ben@example.org")', { state: 'detached' })
  assert.equal((await visitor.get(`_contexts/metadata/${context}`)).status, 403)
  assert.deepEqual([...complaints, ...other.complaints], [])
  await Promise.all([close(), other.close()])
})

inBrowser('a permission is changed in its row, and Undo gives the former one back', async b => {
  const context = await newContext(admin, [anna.id])
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, anna.name, GOOD_PASSWORD, `ui/contexts/${context}/sharing`)
  await page.getByLabel('User or group').fill(ben.name)
  await page.getByRole('button', { name: 'Grant access' }).click()
  const permission = page.getByLabel(/Permission of ben@example.org/)
  assert.equal(await permission.inputValue(), 'reader')
  assert.equal(await page.getByLabel(/Permission of anna/).count(), 0, "one does not change a permission of one's own")
  const visitor = service.visitor()
  await visitor.signIn(ben.name, GOOD_PASSWORD)
  const mayWrite = async (): Promise<boolean> => (await visitor.post(context)).status === 201
  assert.equal(await mayWrite(), false)

  await permission.selectOption('writer')
  await page.waitForSelector('text=ben@example.org now has the permission: read and write.')
  await eventually(
    'the list shows it',
    async () => (await page.getByLabel(/Permission of ben/).inputValue()) === 'writer',
  )
  assert.equal(await page.locator('tbody tr:has-text("ben@example.org")').count(), 1)
  assert.equal(await mayWrite(), true)
  await requireAccessible(page)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.waitForSelector('text=Undone')
  await eventually(
    'it is as before',
    async () => (await page.getByLabel(/Permission of ben/).inputValue()) === 'reader',
  )
  assert.equal(await mayWrite(), false)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('an owner renames a space', async b => {
  const context = await newContext(admin, [anna.id])
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, anna.name, GOOD_PASSWORD, `ui/contexts/${context}/sharing`)
  await page.getByLabel('Title').fill('Tide gauges')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { name: 'Share Tide gauges' }).waitFor()
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()
})
