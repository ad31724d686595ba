import assert from 'node:assert/strict'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { newTitled } from '../support/lists.ts'
import { ADMIN_PASSWORD, newContext } from '../support/service.ts'
import { enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name } = await startFilesService()

inBrowser('the audit log is searched by the name of an item, and by the name of a person as it is shown', async b => {
  const context = await newContext(admin, [id])
  await admin.put(context, { alias: 'reefs' })
  const about = `${service.base}_principals/resource/${id}`
  await admin.put(`_principals/metadata/${id}`, {
    [about]: { 'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Anna Andersson' }] },
  })
  const anna = service.visitor()
  await anna.signIn(name, GOOD_PASSWORD)
  const headers = { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="sheet-5.txt"' }
  const made = await anna.ask(`${context}?file`, { method: 'POST', body: 'x', headers })
  const { entryId: file } = made.json<{ entryId: string }>()
  const folder = await newTitled(anna, context, 'Plans', '?graphtype=list')
  const entry = `${service.base}${context}/entry/${file}`
  const move = new URLSearchParams({ moveEntry: entry, removeAll: '' })
  assert.equal((await anna.post(`${context}/resource/${folder}?${move.toString()}`)).status, 200)
  const description = { 'http://purl.org/dc/terms/description': [{ type: 'literal', value: 'hidden' }] }
  const metadata = { [`${service.base}${context}/resource/${file}`]: description }
  assert.equal((await anna.put(`${context}/metadata/${file}`, metadata)).status, 204)
  assert.equal((await anna.delete(`${context}/entry/${file}`)).status, 204)

  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/audit')
  await page.getByLabel('Name of an item').fill('sheet-5')
  const row = (text: string) => page.locator('tbody tr').filter({ hasText: text })
  await row('deleted sheet-5.txt').waitFor()
  await row('moved sheet-5.txt from reefs to Plans.').getByRole('link', { name: 'Plans' }).waitFor()
  await row('changed the metadata of sheet-5.txt in reefs.').filter({ hasText: 'changed: Description' }).waitFor()
  // All events are listed until those of the name have come.
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 4)
  assert.ok(!(await page.locator('tbody').innerText()).includes('hidden'), 'the values are not recorded')
  await requireAccessible(page)
  for (const typed of ['Anna Andersson', `Anna Andersson (${name})`]) {
    await page.getByLabel('User (name or ID)').fill(typed)
    await page.waitForURL(url => url.searchParams.get('user') === typed)
    await row('deleted sheet-5.txt').waitFor()
  }
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('on a phone the events come first, and the fields that search them on request', async b => {
  const { page, complaints, close } = await newPerson(b, phone)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/audit')
  const first = page.locator('tbody tr').first()
  await first.waitFor()
  assert.ok(((await first.boundingBox())?.y ?? Number.POSITIVE_INFINITY) < phone.viewport.height)
  await requireAccessible(page)
  await page.getByText('Filter', { exact: true }).click()
  await page.getByLabel('User (name or ID)').fill(name)
  await page.waitForURL(url => url.searchParams.get('user') === name)
  await page.reload()
  await page.getByLabel('User (name or ID)').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})
