import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { startWithOidc } from '../support/oidc-at-provider.ts'
import { ADMIN_PASSWORD } from '../support/service.ts'
import { desktop, enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const { service } = await startWithOidc(
  { after },
  {
    'op.groups-claim': 'groups',
    'op.groups-prefix': 'sso-',
    'op.groups-auto-provisioning': 'on',
    'op.required.affiliation': 'staff',
  },
)
const inBrowser = await openBrowser()

inBrowser(
  'an administrator tries a sign-on with pasted claims: refused with the reason, then accepted (D27.7)',
  async b => {
    const { page, complaints, close } = await newPerson(b, { ...desktop, refusals: [404] })
    await enter(page, service.base, 'admin', ADMIN_PASSWORD)
    await page.goto(`${service.base}ui/admin/sso`)
    await page.waitForSelector('text=OpenID Connect: op')
    await page.click('text=Use latest sign-on')
    await page.waitForSelector('text=Nobody has signed in through this provider')
    const fill = async (claims: string): Promise<void> => {
      await page.fill('textarea', claims)
      await page.click('text=Show result')
    }
    await fill('no attributes')
    await page.waitForSelector('[role=alert]')
    await fill('email=anna@example.org\nemail_verified=true\naffiliation=student')
    await page.waitForSelector('text=The sign-on would be refused.')
    assert.match(await page.innerText('[role=status] .notice'), /required-claim[^]*student/)
    assert.match(await page.locator('[role=status] .notice [lang=en]').last().innerText(), /student/)
    await requireAccessible(page)
    await fill('{"email": "anna@example.org", "email_verified": true, "affiliation": "staff", "groups": ["Editors"]}')
    await page.waitForSelector('text=anna@example.org would be created.')
    assert.match(await page.innerText('[role=status] .facts'), /sso-editors/)
    await requireAccessible(page)
    assert.deepEqual(complaints, [])
    await close()
  },
)
