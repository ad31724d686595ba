import assert from 'node:assert/strict'
import { addUser, guess } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { startWithSaml } from '../support/saml-service.ts'
import { ADMIN_PASSWORD, newContext } from '../support/service.ts'
import { desktop, enter, newPerson, openBrowser, phone, picture, requireAccessible, zoomed } from '../support/ui.ts'

const { service } = await startWithSaml(
  { after },
  {
    'service.data.quota': 'on',
    'service.auth.cas': 'on',
    'service.auth.cas.server.url': 'https://cas.example/cas',
  },
)
const admin = await service.admin()
const inBrowser = await openBrowser()

const people = ['anna@example.org', 'bo@example.org', 'cecilia@example.org', 'david@example.org', 'eva@example.org']
const users = []
for (const name of people) users.push(await addUser(admin, name))
const [anna, bo, cecilia] = users
assert.ok(anna && bo && cecilia)
await admin.put(`_principals/resource/${bo.id}`, { disabled: true })
await guess(service.visitor(), cecilia.name, 5)
await service.visitor().signIn(anna.name, 'Good-Password-12')
const group = (await admin.post('_principals?graphtype=group', { resource: { name: 'photographers' } })).json<{
  entryId: string
}>().entryId
await admin.put(`_principals/resource/${group}`, [anna.id, bo.id])
const contexts = [
  ['photos', 'Holiday photos', 40_000, 12_000],
  ['survey', 'Survey of the harbour', 9300, 8900],
  ['maps', 'Maps', 8000, 8000],
  ['letters', 'Letters 1890–1920', -1, 3100],
] as const
const ids: string[] = []
for (const [key, title, quota, size] of contexts) {
  const context = await newContext(admin, [anna.id])
  ids.push(context)
  await admin.put(context, { alias: key, quota })
  await admin.put(`_contexts/metadata/${context}`, {
    [`${service.base}${context}`]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: title }] },
  })
  await admin.post(`${context}?id=file`)
  await admin.ask(`${context}/resource/file`, { method: 'PUT', body: 'x'.repeat(size) })
}
// The metadata are read when somebody wants to go there.
await service.visitor().get('auth/saml')
const relayState = 'no-such-flow'
const form = { SAMLResponse: Buffer.from('<nothing/>').toString('base64'), RelayState: relayState }
await service.visitor().ask('auth/saml', { method: 'POST', form })

const looks = [
  { look: 'desktop-light', ...desktop, colorScheme: 'light', locale: 'en-GB' },
  { look: 'phone-dark', ...phone, colorScheme: 'dark', locale: 'sv-SE' },
  { look: 'zoomed-forced', ...zoomed, forcedColors: 'active', locale: 'de-DE' },
] as const

for (const { look, ...options } of looks) {
  inBrowser(`every administration page is accessible and fits the window: ${look}`, async b => {
    const { page, complaints, close } = await newPerson(b, options)
    const overflow = (): Promise<number> =>
      page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    const judge = async (title: string): Promise<void> => {
      await requireAccessible(page)
      assert.ok((await overflow()) <= 0, `${title} is too wide`)
      await picture(page, `admin-${title}-${look}`)
    }
    const visit = async (path: string, sign: string): Promise<void> => {
      await page.goto(`${service.base}ui/${path}`)
      await page.waitForSelector(sign)
      await page.locator('.spinner').first().waitFor({ state: 'detached' })
    }
    await enter(page, service.base, 'admin', ADMIN_PASSWORD)
    const pages = [
      ['system', 'admin', '.chart canvas'],
      ['users', 'admin/users', 'tbody tr'],
      ['user', `admin/users/${anna.id}`, 'form'],
      ['user-access', `admin/users/${anna.id}?tab=access`, 'tbody tr'],
      ['user-sign-in', `admin/users/${anna.id}?tab=sign-in`, '.rules'],
      ['user-activity', `admin/users/${anna.id}?tab=activity`, 'tbody tr'],
      ['user-locked', `admin/users/${cecilia.id}`, '.badge.warn'],
      ['groups', 'admin/groups', 'tbody tr'],
      ['group', `admin/groups/${group}`, 'tbody tr'],
      ['contexts', 'admin/contexts?sort=fullness', 'tbody tr'],
      ['context', `admin/contexts/${ids[0]}`, 'tbody tr'],
      ['sessions', 'admin/sessions', 'tbody tr'],
      ['lockouts', 'admin/lockouts', 'tbody tr'],
      ['audit', 'admin/audit', 'tbody tr'],
      ['quotas', 'admin/quotas', 'tbody tr'],
      ['backups', 'admin/backups', 'main .notice'],
      ['sso', 'admin/sso', 'tbody tr'],
      ['settings', 'admin/settings?query=quota', '.settings'],
      ['checks', 'admin/checks', 'tbody tr'],
    ] as const
    for (const [title, path, sign] of pages) {
      await visit(path, sign)
      await judge(title)
    }
    for (const kind of ['users', 'groups', 'contexts'] as const) {
      await visit(`admin/${kind}`, 'tbody tr')
      await page.locator('.card > .line .button').click()
      await page.waitForSelector('dialog form')
      await judge(`new-${kind}`)
    }
    assert.deepEqual(complaints, [])
    await close()
  })
}
