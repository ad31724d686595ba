import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { newContext, startInProcess } from '../support/service.ts'
import { partOf, startSmtpServer } from '../support/smtp-server.ts'
import { enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      ...smtp.settings,
      'service.names.visible-to': 'nobody',
      'service.contact': 'help@example.org',
    },
  },
)
const admin = await service.admin()
const inBrowser = await openBrowser()

const anna = await addUser(admin, 'anna@example.org')
const ben = await addUser(admin, 'ben@example.org')
await addUser(admin, 'carl')

inBrowser('an owner shares with a message; where names are hidden, only the exact name finds people', async b => {
  const context = await newContext(admin, [anna.id])
  await admin.put(context, { alias: 'Harbour' })
  const { page, complaints, close } = await newPerson(b, { refusals: [403, 404] })
  await enter(page, service.base, anna.name, GOOD_PASSWORD, `ui/contexts/${context}/sharing`)
  const name = page.getByLabel('User or group')
  const suggested = page.waitForResponse(answer => answer.url().includes('username%3A*ben'))
  await name.fill('ben')
  await suggested
  assert.equal(await page.locator('datalist option').count(), 0)
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.waitForSelector('.error:text("There is no user or group with this name.")')
  await name.fill(ben.name)
  await page.getByLabel('Tell them by e-mail').check()
  await page.getByLabel('Message (optional)').fill('The charts\nof the harbour')
  await requireAccessible(page)
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.getByText('ben@example.org gets an e-mail.').waitFor()
  await page.waitForSelector('tbody tr:has-text("ben@example.org")')
  const text = partOf(await smtp.take(ben.name), 'text/plain')
  assert.match(text, /anna@example.org has shared Harbour with you/)
  assert.match(text, /^> The charts\r?\n> of the harbour/m)
  assert.equal(await page.getByLabel('Message (optional)').inputValue(), '')

  await name.fill('carl')
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.getByText('carl gets no e-mail, because the user name is not an e-mail address.').waitFor()
  await page.waitForSelector('tbody tr:has-text("carl")')

  // The list of what is shared names people whom the owner could not look up.
  await page.goto(`${service.base}ui/shared-by-me`)
  await page.getByText('ben@example.org: read').waitFor()
  assert.deepEqual(complaints, [])
  await close()

  const other = await newPerson(b)
  await enter(other.page, service.base, ben.name, GOOD_PASSWORD)
  await other.page.goto(/^http\S+ui\/contexts\S+$/m.exec(text)?.[0] ?? '')
  await other.page.waitForSelector('h1:text("Harbour")')
  assert.deepEqual(other.complaints, [])
  await other.close()
})

inBrowser('who has no space is offered to ask for one where the settings say whom', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [403] })
  await enter(page, service.base, 'carl', GOOD_PASSWORD)
  const link = page.getByRole('link', { name: 'Ask for a space' })
  assert.equal(await link.getAttribute('href'), 'mailto:help@example.org?subject=A%20space%20for%20carl')
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()
})
