import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD, guess } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { MEGA, startFilesService } from '../support/files-page.ts'
import { App } from '../support/second-factors.ts'
import { ADMIN_PASSWORD, newContext } from '../support/service.ts'
import { linkOf, startSmtpServer } from '../support/smtp-server.ts'
import { enter, newPerson, openBrowser, viewPicture } from '../support/ui.ts'

// The tasks of docs/ui.md, each in at most five clicks from the first page. Their pictures are those of that page.

const MAX_CLICKS = 5

const smtp = await startSmtpServer({ after })
const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService({
  'service.auth.password-reset': 'on',
  ...smtp.settings,
})
const ben = await addUser(admin, 'ben@example.org')
const context = await newContext(admin, [id])
await admin.put(context, { alias: 'harbour', quota: 10 * MEGA })
await admin.put(`_contexts/metadata/${context}`, {
  [service.base + context]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Survey of the harbour' }] },
})
for (const [file, type] of [
  ['map.png', 'image/png'],
  ['notes.txt', 'text/plain'],
  ['report.pdf', 'application/pdf'],
] as const)
  await store(context, file, 'x'.repeat(3000), type)

interface Task {
  readonly page: Page
  readonly click: (what: Locator) => Promise<void>
  readonly button: (name: string) => Locator
  readonly link: (name: string) => Locator
  /** Keeps the picture of the decisive step. */
  readonly show: () => Promise<void>
}

/** Does a task from the first page, and counts the clicks. */
function task(title: string, picture: string, as: 'anna' | 'admin', work: (task: Task) => Promise<void>): void {
  inBrowser(`in at most five clicks: ${title}`, async b => {
    const { page, complaints, close } = await newPerson(b, { viewport: { width: 800, height: 520 } })
    const [user, password] = as === 'admin' ? ['admin', ADMIN_PASSWORD] : [name, GOOD_PASSWORD]
    await enter(page, service.base, user, password)
    let clicks = 0
    await work({
      page,
      click: async what => {
        clicks++
        await what.click()
      },
      button: name => page.getByRole('button', { name, exact: true }),
      link: name => page.getByRole('link', { name, exact: true }),
      show: () => viewPicture(page, `task-${picture}`),
    })
    assert.ok(clicks <= MAX_CLICKS, `${clicks} clicks`)
    assert.deepEqual(complaints, [])
    await close()
  })
}

const said = (page: Page, text: string): Promise<void> => page.locator('.toast').filter({ hasText: text }).waitFor()

task('upload files', 'upload', 'anna', async ({ page, click, button, link, show }) => {
  await click(link('Survey of the harbour'))
  const chooser = page.waitForEvent('filechooser')
  await click(button('New'))
  await click(page.getByRole('menuitem', { name: 'Upload files' }))
  await (await chooser).setFiles({ name: 'tides.csv', mimeType: 'text/csv', buffer: Buffer.from('1,2') })
  await page.getByRole('row').filter({ hasText: 'tides.csv' }).waitFor()
  await show()
})

task('share a space', 'share', 'anna', async ({ page, click, button, link, show }) => {
  await click(link('Survey of the harbour'))
  await click(link('Share'))
  await page.getByLabel('User or group').fill(ben.name)
  await click(button('Grant access'))
  await page.getByRole('row').filter({ hasText: ben.name }).waitFor()
  await show()
})

task('share a single file', 'share-file', 'anna', async ({ page, click, button, link, show }) => {
  await click(link('Survey of the harbour'))
  await click(button('Actions for notes.txt'))
  await click(page.getByRole('menuitem', { name: 'Share' }))
  await page.getByLabel('User or group').fill(ben.name)
  await click(button('Grant access'))
  await page.getByRole('row').filter({ hasText: ben.name }).first().waitFor()
  await show()
})

task('create a public link', 'public-link', 'anna', async ({ page, click, button, link, show }) => {
  await click(link('Survey of the harbour'))
  await click(button('Actions for notes.txt'))
  await click(page.getByRole('menuitem', { name: 'Share' }))
  await click(button('Create public link'))
  const dialog = page.getByRole('dialog').last()
  await dialog.getByLabel('Note').fill('For the review')
  await show()
  await click(dialog.getByRole('button', { name: 'Create public link' }))
  assert.match(await dialog.getByLabel('Public link').inputValue(), /\/ui\/link#[\w-]{43}$/)
})

task('recover a deleted file', 'recover', 'anna', async ({ page, click, button, link, show }) => {
  const trashed = await store(context, 'draft.txt', 'first draft', 'text/plain')
  assert.equal((await admin.post(`${context}/trash/${trashed}`)).status, 204)
  await click(link('Survey of the harbour'))
  await click(link('Trash'))
  await page.getByRole('row').filter({ hasText: 'draft.txt' }).waitFor()
  await show()
  await click(button('Restore draft.txt'))
  await said(page, 'draft.txt')
  assert.equal((await admin.get(`${context}/resource/${trashed}`)).text, 'first draft')
})

task('rename a file', 'rename', 'anna', async ({ page, click, button, link, show }) => {
  await click(link('Survey of the harbour'))
  await click(button('Actions for map.png'))
  await click(page.getByRole('menuitem', { name: 'Rename' }))
  await page.getByRole('dialog').getByLabel('Name').fill('chart.png')
  await show()
  await click(button('Rename'))
  await said(page, 'Renamed to chart.png.')
})

task('find a file and look at it', 'find', 'anna', async ({ page, click, link, show }) => {
  await click(link('Survey of the harbour'))
  await page.getByRole('searchbox', { name: 'Search all files' }).fill('not')
  await page.waitForSelector('text=1 item')
  await show()
  await click(link('notes.txt'))
  await page.waitForSelector('pre.preview')
})

task('describe a file', 'describe', 'anna', async ({ page, click, button, link, show }) => {
  await click(link('Survey of the harbour'))
  await click(link('notes.txt'))
  await click(page.getByRole('tab', { name: 'Metadata' }))
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Creator').fill('Anna Ek')
  await dialog.getByLabel('Licence').fill('https://creativecommons.org/licenses/by/4.0/')
  await show()
  await click(button('Save'))
  await dialog.getByRole('cell', { name: 'Anna Ek', exact: true }).waitFor()
})

task('sign out on all other devices', 'sign-out', 'anna', async ({ page, click, button, link, show }) => {
  const other = service.visitor()
  await other.signIn(name, GOOD_PASSWORD)
  await click(link('My account'))
  await button('Sign out everywhere else').waitFor()
  await show()
  await click(button('Sign out everywhere else'))
  await click(page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere else' }))
  await said(page, 'All other sessions ended.')
  assert.equal((await other.get('auth/user')).json()['id'], '_guest')
})

task('invite a colleague by e-mail', 'invite', 'admin', async ({ page, click, button, link, show }) => {
  await click(link('Administration'))
  await click(page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: 'Users' }))
  await click(button('New user'))
  await page.getByRole('dialog').getByLabel('User name').fill('cleo@example.org')
  await click(page.getByLabel('Send an e-mail with a link to set the password'))
  await show()
  await click(button('Create user'))
  await said(page, 'An e-mail with a link is on its way.')
  const { link: address } = linkOf(await smtp.take('cleo@example.org'))
  assert.ok(address.startsWith(`${service.base}auth/pwreset?token=`), 'the mail leads to the page that sets a password')
})

task(
  'hand over a password that the user must change',
  'temporary',
  'admin',
  async ({ page, click, button, link, show }) => {
    const dora = await addUser(admin, 'dora@example.org')
    await click(link('Administration'))
    await click(page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: 'Users' }))
    await click(page.locator('tbody').getByRole('link', { name: dora.name }))
    await click(link('Sign-in'))
    const card = page.getByRole('region', { name: 'Set a new password' })
    await card.getByText('Copy the password now').waitFor()
    assert.ok(await card.getByLabel(/^Temporary/).isChecked())
    await card.scrollIntoViewIfNeeded()
    await show()
    await click(button('Set password'))
    await said(page, 'Password set.')
    await page.getByRole('link', { name: 'Profile', exact: true }).click()
    await page.getByText('temporary, must be changed at the next sign-in').waitFor()
  },
)

task('add a second factor', 'second-factor', 'anna', async ({ page, click, button, link, show }) => {
  await page.clock.setFixedTime(new Date(service.system.now()))
  await click(link('My account'))
  await click(button('Add authenticator app'))
  const dialog = page.getByRole('dialog')
  await click(dialog.getByRole('button', { name: 'Continue' }))
  await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
  const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '')
  await dialog.getByRole('textbox', { name: 'Code' }).fill(new App('', secret, service.system).code())
  await show()
  await click(dialog.getByRole('button', { name: 'Add authenticator app' }))
  await page.getByRole('dialog', { name: 'Recovery codes' }).locator('li').nth(9).waitFor()
  // The tests that follow sign in with the password alone.
  assert.equal((await admin.delete(`auth/factors?user=${name}`)).status, 200)
})

task('find a locked user and unlock them', 'unlock', 'admin', async ({ page, click, button, link, show }) => {
  await guess(service.visitor(), ben.name, 5)
  await click(link('Administration'))
  await click(link('Lockouts'))
  await button(`Unlock ${ben.name}`).waitFor()
  await show()
  await click(button(`Unlock ${ben.name}`))
  await said(page, `${ben.name} unlocked.`)
})

task('raise a quota', 'quota', 'admin', async ({ page, click, button, link, show }) => {
  await click(link('Administration'))
  await click(page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: 'Spaces' }))
  await click(page.locator('tbody').getByRole('link', { name: 'Survey of the harbour' }))
  await page.getByLabel('New quota').fill('50')
  await click(button('Set quota'))
  await said(page, 'Saved.')
  await show()
})

task('end the session of a user', 'end-session', 'admin', async ({ page, click, link, show }) => {
  await service.visitor().signIn(name, GOOD_PASSWORD)
  await click(link('Administration'))
  await click(link('Sessions'))
  await page.getByLabel('Search by user, address or device').fill('anna')
  await page.locator('tbody tr').filter({ hasText: 'admin' }).first().waitFor({ state: 'detached' })
  await show()
  await click(page.getByRole('button', { name: /^End session: anna/ }).first())
  await said(page, 'Session ended.')
})
