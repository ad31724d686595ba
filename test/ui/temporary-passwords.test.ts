import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD, NEXT_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { addApp } from '../support/second-factors.ts'
import { ADMIN_PASSWORD, newUser, startInProcess } from '../support/service.ts'
import { enter, newPerson, openBrowser, phone, picture, requireAccessible, sendPassword } from '../support/ui.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const inBrowser = await openBrowser()

const makeTemporary = async (id: string, password: string): Promise<void> => {
  const answer = await admin.put(`_principals/resource/${id}`, { password, temporaryPassword: true })
  assert.equal(answer.status, 204, answer.text)
}

inBrowser(
  'an administrator hands over a generated password; the user chooses their own before the sign-in is complete (D33)',
  async b => {
    const person = await newPerson(b)
    await person.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await enter(person.page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/users')
    await person.page.getByRole('button', { name: 'New user' }).click()
    const dialog = person.page.getByRole('dialog')
    await dialog.getByLabel('User name').fill('nils@example.org')
    await dialog.getByRole('button', { name: 'Generate password' }).click()
    assert.ok(await dialog.getByLabel(/^Temporary/).isChecked())
    await requireAccessible(person.page)
    const password = await dialog.getByLabel('New password', { exact: true }).inputValue()
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await person.page.getByText('temporary, must be changed at the next sign-in').waitFor()
    await requireAccessible(person.page)
    assert.deepEqual(person.complaints, [])
    await person.close()

    const nils = await newPerson(b, { ...phone, refusals: [400, 401] })
    await nils.page.goto(`${service.base}auth/login`)
    await sendPassword(nils.page, 'nils@example.org', password)
    await nils.page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
    await nils.page.waitForSelector('[name=password]:focus')
    await requireAccessible(nils.page)
    await picture(nils.page, 'temporary-password')
    await nils.page.getByLabel('New password', { exact: true }).fill('short')
    await nils.page.keyboard.press('Enter')
    await nils.page.getByRole('alert').getByText('at least').waitFor()
    await requireAccessible(nils.page)
    await nils.page.getByLabel('New password', { exact: true }).fill(password)
    await nils.page.keyboard.press('Enter')
    await nils.page.getByText('This is the temporary password. Choose another one.').waitFor()
    await nils.page.getByLabel('New password', { exact: true }).fill(GOOD_PASSWORD)
    await nils.page.keyboard.press('Enter')
    await nils.page.waitForURL(`${service.base}ui/`)
    await nils.page.waitForSelector('main h1')
    assert.deepEqual(nils.complaints, [])
    await nils.close()
    assert.equal((await service.visitor().signIn('nils@example.org', GOOD_PASSWORD)).status, 200)
  },
)

inBrowser('an administrator can set a password that the user keeps (D33)', async b => {
  const { id, name } = await addUser(admin, 'keeps@example.org')
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, `ui/admin/users/${id}?tab=sign-in`)
  const card = page.getByRole('region', { name: 'Set a new password' })
  await card.getByLabel('New password', { exact: true }).fill(NEXT_PASSWORD)
  await card.getByLabel(/^Temporary/).uncheck()
  await card.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Password set.').waitFor()
  assert.equal((await service.visitor().signIn(name, NEXT_PASSWORD)).status, 200)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'the dialog after the end of a session asks for the code and for a new password, where they are needed',
  async b => {
    const user = await newUser(service, admin)
    const { page, complaints, close } = await newPerson(b, { refusals: [400, 401, 403] })
    await enter(page, service.base, user.name, user.password, 'ui/account')
    await page.locator('select').waitFor()
    const { app } = await addApp(user.visitor, service.system)
    await makeTemporary(user.id, NEXT_PASSWORD)
    await page.selectOption('select', 'sv')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Password').fill(NEXT_PASSWORD)
    await page.keyboard.press('Enter')
    await dialog.getByLabel('Code').fill(app.wrongCode())
    await page.keyboard.press('Enter')
    await dialog.getByText('The code is wrong').waitFor()
    await requireAccessible(page)
    await dialog.getByLabel('Code').fill(app.code())
    await page.keyboard.press('Enter')
    await dialog.getByLabel('New password', { exact: true }).fill(NEXT_PASSWORD)
    await page.keyboard.press('Enter')
    await dialog.getByText('This is the temporary password').waitFor()
    await requireAccessible(page)
    await dialog.getByLabel('New password', { exact: true }).fill(GOOD_PASSWORD)
    await page.keyboard.press('Enter')
    // The change that was interrupted is made.
    await page.getByRole('heading', { name: 'Mitt konto' }).waitFor()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
    await close()
  },
)
