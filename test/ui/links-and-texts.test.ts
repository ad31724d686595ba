import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { addNew, row, startFilesService } from '../support/files-page.ts'
import { enter, escape, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, name, filesUrl, store, atFiles } = await startFilesService()

const names = (page: Page): Promise<string[]> => page.locator('tbody th.name bdi').allInnerTexts()
const folderNamed = async (context: string, title: string): Promise<string> => {
  const metadata = {
    [`${service.base}${context}/resource/_newId`]: {
      'http://purl.org/dc/terms/title': [{ type: 'literal', value: title }],
    },
  }
  return (await admin.post(`${context}?graphtype=list`, { metadata })).json<{ entryId: string }>().entryId
}

inBrowser('a link is made in a folder, listed, opened, renamed and led elsewhere', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const folder = await folderNamed(context, 'Reading')
  await page.goto(`${filesUrl(context)}/${folder}`)
  await addNew(page, 'New link')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Web address').fill('not an address')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText('Enter a whole address such as https://example.org/.').waitFor()
  await dialog.getByLabel('Web address').fill('example.org/tide tables?port=1')
  await dialog.getByLabel('Name').fill('Tide tables')
  await requireAccessible(page)
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await row(page, 'Tide tables').filter({ hasText: 'Link' }).waitFor()

  await row(page, 'Tide tables').getByRole('link').click()
  const target = page.getByRole('link', { name: 'https://example.org/tide%20tables?port=1' })
  assert.equal(await target.getAttribute('href'), 'https://example.org/tide%20tables?port=1')
  assert.equal(await target.getAttribute('rel'), 'noopener noreferrer')
  assert.equal(await page.getByRole('link', { name: 'Open link' }).getAttribute('target'), '_blank')
  await requireAccessible(page)

  await page.getByLabel('Title', { exact: true }).fill('Tides')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Tides' }).waitFor()
  await page.getByRole('button', { name: 'Change address' }).click()
  const change = page.getByRole('dialog', { name: 'Change address' })
  await change.getByLabel('Web address').fill('https://example.com/tides')
  await change.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: 'https://example.com/tides' }).waitFor()
  await page.getByRole('heading', { name: 'Tides' }).waitFor()
  await escape(page)
  await row(page, 'Tides').waitFor()
  await page.getByRole('button', { name: 'Actions for Tides' }).click()
  const open = page.getByRole('menuitem', { name: 'Open link' })
  assert.equal(await open.getAttribute('href'), 'https://example.com/tides')
  assert.equal(await page.getByRole('menuitem', { name: 'Replace file' }).count(), 0)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a text is made, read and changed; a change by someone else is not overwritten', async b => {
  const { page, complaints, close } = await newPerson(b, { ...phone, refusals: [412] })
  const context = await atFiles(page)
  await addNew(page, 'New text')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Minutes')
  await dialog.getByLabel('Text').fill('First line\n<b>second</b> "line"')
  await dialog.getByRole('button', { name: 'Create text' }).click()
  await row(page, 'Minutes').getByRole('link').click()
  const shown = page.getByRole('region', { name: 'Minutes' })
  assert.equal(await shown.innerText(), 'First line\n<b>second</b> "line"')
  await requireAccessible(page)

  await page.getByRole('button', { name: 'Edit text' }).click()
  await page.getByLabel('Text', { exact: true }).fill('Changed')
  const [entry] = (await admin.get(context)).json<string[]>()
  const path = `${context}/resource/${entry}`
  const put = (body: string) => admin.ask(path, { method: 'PUT', body, headers: { 'content-type': 'text/plain' } })
  assert.equal((await put('Theirs')).status, 204)
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.getByText('Someone else has saved this since you opened it.').waitFor()
  assert.equal((await admin.get(path)).text, 'Theirs')
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await shown.filter({ hasText: 'Changed' }).waitFor()
  assert.equal((await admin.get(path)).text, 'Changed')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('links and texts are in one order with files, behind folders; they are shared and deleted', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const ben = await addUser(admin, 'ben-links@example.org')
  await store(context, 'cargo.txt')
  await folderNamed(context, 'zones')
  await admin.post(`${context}?entrytype=link&resource=https://example.org/b`, {
    metadata: { 'https://example.org/b': { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Buoys' }] } },
  })
  await admin.post(`${context}?graphtype=string`, {
    resource: 'x',
    metadata: {
      [`${service.base}${context}/resource/_newId`]: {
        'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Anchors' }],
      },
    },
  })
  await page.goto(filesUrl(context))
  await row(page, 'Anchors').waitFor()
  assert.deepEqual(await names(page), ['zones', 'Anchors', 'Buoys', 'cargo.txt'])
  await page.getByText('4 items').waitFor()

  await row(page, 'Buoys').getByRole('link').click()
  await page.getByRole('tab', { name: 'Access' }).click()
  await page.getByLabel('User or group').fill(ben.name)
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.getByRole('row').filter({ hasText: ben.name }).waitFor()
  const reader = service.visitor()
  await reader.signIn(ben.name, GOOD_PASSWORD)
  const found = await reader.get(`search?type=solr&query=${encodeURIComponent('title:buoys')}`)
  assert.equal(found.json<{ results: number }>().results, 1)
  await escape(page)
  const other = await newPerson(b)
  await enter(other.page, service.base, ben.name, GOOD_PASSWORD, 'ui/shared')
  await other.page.getByRole('link', { name: 'Buoys' }).waitFor()
  assert.deepEqual(other.complaints, [])
  await other.close()

  await row(page, 'Buoys').getByRole('link').focus()
  await page.keyboard.press('Delete')
  await eventually('it is gone', async () => (await row(page, 'Buoys').count()) === 0)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('an address that is no web page is shown and not opened', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  await admin.post(`${context}?entrytype=link&resource=${encodeURIComponent('urn:isbn:0451450523')}`, {})
  await page.goto(filesUrl(context))
  await row(page, 'urn:isbn').getByRole('link').click()
  await page.locator('.leads').getByText('urn:isbn:0451450523').waitFor()
  assert.equal(await page.locator('.leads a').count(), 0)
  assert.deepEqual(complaints, [])
  assert.ok(name)
  await close()
})
