import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { ADMIN_PASSWORD, newContext } from '../support/service.ts'
import { desktop, enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name } = await startFilesService()

const uri = (user: string) => ({ type: 'uri', value: `${service.base}_principals/resource/${user}` })

/** Lets a user read a whole context. */
async function share(context: string, reader: string): Promise<void> {
  const { info } = (await admin.get(`_contexts/entry/${context}`)).json<{ info: Record<string, object> }>()
  const subject = service.base + context
  const changed = { ...info, [subject]: { ...info[subject], 'http://entrystore.org/terms/read': [uri(reader)] } }
  assert.equal((await admin.put(`_contexts/entry/${context}`, changed)).status, 204)
}

inBrowser('the first page leads on: recent files, spaces, and what others share with their names', async b => {
  const { page, complaints, close } = await newPerson(b, desktop)
  const maria = await addUser(admin, 'maria-home@example.org')
  const about = `${service.base}_principals/resource/${maria.id}`
  await admin.put(`_principals/metadata/${maria.id}`, {
    [about]: { 'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Maria Nyström' }] },
  })
  const own = await newContext(admin, [id])
  await admin.put(own, { alias: 'harbour' })
  const shared = await newContext(admin, [maria.id])
  await admin.put(shared, { alias: 'marine' })
  await share(shared, id)
  const anna = service.visitor()
  await anna.signIn(name, GOOD_PASSWORD)
  const headers = { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="tides.txt"' }
  assert.equal((await anna.ask(`${own}?file`, { method: 'POST', body: 'x', headers })).status, 201)

  await enter(page, service.base, name, GOOD_PASSWORD)
  const recent = page.getByRole('region', { name: 'Continue' })
  await recent.getByRole('listitem').filter({ hasText: 'tides.txt' }).filter({ hasText: 'harbour' }).waitFor()
  await page.getByRole('region', { name: 'Spaces' }).getByRole('link', { name: 'harbour' }).waitFor()
  const others = page.getByRole('region', { name: 'Shared with me' })
  await others.getByRole('listitem').filter({ hasText: 'marine' }).filter({ hasText: 'by Maria Nyström' }).waitFor()
  await requireAccessible(page)
  await others.getByRole('link', { name: 'marine' }).click()
  await page.waitForURL(new RegExp(`/contexts/${shared}/files`))
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('every tab of the first page is whole on a phone, in German too', async b => {
  const { page, complaints, close } = await newPerson(b, { ...phone, locale: 'de-DE' })
  await enter(page, service.base, name, GOOD_PASSWORD)
  const width = phone.viewport.width
  for (const tab of await page.locator('.tabs a').all()) {
    const { x = -1, width: ofTab = 0 } = (await tab.boundingBox()) ?? {}
    assert.ok(x >= 0 && x + ofTab <= width, `${await tab.innerText()} ends at ${x + ofTab} of ${width}`)
  }
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('who has nothing yet is told what to do; an administrator creates the first space', async b => {
  const { page, complaints, close } = await newPerson(b)
  const nobody = await addUser(admin, 'nothing@example.org')
  await enter(page, service.base, nobody.name, GOOD_PASSWORD)
  await page.getByText('Ask an administrator of this service to create one for you.').waitFor()
  assert.equal(await page.getByRole('region', { name: 'Continue' }).count(), 0)
  assert.deepEqual(complaints, [])
  await close()
  const boss = await newPerson(b)
  await enter(boss.page, service.base, 'admin', ADMIN_PASSWORD)
  await boss.page.getByRole('link', { name: 'New space' }).click()
  await boss.page.getByRole('dialog', { name: 'New space' }).waitFor()
  assert.deepEqual(boss.complaints, [])
  await boss.close()
})
