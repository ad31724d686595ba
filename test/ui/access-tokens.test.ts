import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { ADMIN_PASSWORD, newUser, startInProcess } from '../support/service.ts'
import { newPerson, openBrowser, requireAccessible, signIn } from '../support/ui.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const inBrowser = await openBrowser()

inBrowser('an access token is created, shown once and listed; an administrator revokes it (D24)', async b => {
  const anna = await newUser(service, admin)
  const { page, complaints, close } = await newPerson(b, { refusals: [400] })
  // The times of the service are those of its own clock.
  await page.clock.setFixedTime(new Date(service.system.now()))
  await signIn(page, service.base, anna.name, anna.password)
  await page.goto(`${service.base}ui/account`)
  const card = page.getByRole('region', { name: 'Access tokens' })
  await card.getByText('No access tokens.').waitFor()
  await card.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog')
  assert.deepEqual(await dialog.getByLabel('Permission').locator('option').allTextContents(), [
    'read',
    'read and write',
  ])
  await dialog.getByLabel('Name').fill('Nightly import')
  await dialog.getByLabel('Permission').selectOption('write')
  await dialog.getByLabel('Only from these addresses').fill('nonsense')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  await dialog.locator('.error').waitFor()
  await dialog.getByLabel('Only from these addresses').fill('127.0.0.0/8, ::1')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  const token = await page.getByRole('textbox', { name: 'Access token', exact: true }).inputValue()
  assert.match(token, /^stow_/)
  await requireAccessible(page)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
  await card.getByText('127.0.0.0/8 · ::1').waitFor()
  assert.ok(!(await page.content()).includes(token), 'it is not shown again')
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await service.visitor().get('auth/user', headers)).json()['user'], anna.name)
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()

  const other = await newPerson(b)
  await signIn(other.page, service.base, 'admin', ADMIN_PASSWORD)
  await other.page.goto(`${service.base}ui/admin/users/${anna.id}?tab=sign-in`)
  const list = other.page.getByRole('region', { name: 'Access tokens' })
  await list.getByRole('button', { name: 'Revoke: Nightly import' }).click()
  await other.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await list.getByText('No access tokens.').waitFor()
  assert.equal((await service.visitor().get('auth/user', headers)).status, 401)
  assert.deepEqual(other.complaints, [])
  await other.close()
})
