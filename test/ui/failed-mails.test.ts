import assert from 'node:assert/strict'
import { after } from '../support/after.ts'
import { ADMIN_PASSWORD, startInProcess } from '../support/service.ts'
import { startSmtpServer } from '../support/smtp-server.ts'
import { eventually } from '../support/waiting.ts'
import { enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const REFUSED = 'gone@example.org'
const smtp = await startSmtpServer({ after }, { refused: [REFUSED] })
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.auth.password-reset': 'on',
      ...smtp.settings,
    },
  },
)
const admin = await service.admin()
const inBrowser = await openBrowser()

inBrowser('an invitation that cannot be sent is said where it was made, and needs attention', async b => {
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/users?create=yes')
  const dialog = page.getByRole('dialog', { name: 'New user' })
  await dialog.getByLabel('User name').fill(REFUSED)
  await dialog.getByLabel('Send an e-mail with a link to set the password').check()
  await dialog.getByRole('button', { name: 'Create user' }).click()
  await page.waitForURL(/admin\/users\/\d+/)
  const notice = page.getByRole('alert').filter({ hasText: 'The last e-mail to this user could not be sent' })
  await notice.getByText('the mail server refused the mail (550)').waitFor()
  await notice.getByText('The service does not try again.').waitFor()
  await requireAccessible(page)

  await page.goto(`${service.base}ui/admin`)
  const matter = page.getByRole('link', { name: `An e-mail to ${REFUSED} could not be sent` })
  await matter.click()
  await page.waitForURL(/admin\/users\/\d+/)
  const { events } = (await admin.get('management/audit?event=mail-failed')).json<{ events: readonly object[] }>()
  assert.equal(events.length, 1)
  await notice.getByRole('button', { name: 'Send a new link' }).click()
  await page.getByText('A new e-mail with a link is on its way.').waitFor()
  await eventually('the second mail fails', async () => {
    const again = (await admin.get('management/audit?event=mail-failed')).json<{ events: readonly object[] }>()
    return again.events.length === 2
  })
  assert.deepEqual(complaints, [])
  await close()
})
