import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { addNew, pick, row, startFilesService } from '../support/files-page.ts'
import { ADMIN_PASSWORD } from '../support/service.ts'
import { enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, store, atFiles } = await startFilesService()
const ben = await addUser(admin, 'ben@example.org')

/** Presses Undo in the message with this text, and waits until the change has been taken back. */
async function undo(page: Page, text: string): Promise<void> {
  const toast = page.locator('.toast').filter({ hasText: text })
  await toast.getByRole('button', { name: 'Undo' }).click()
  await page.locator('.toast').filter({ hasText: 'Undone.' }).waitFor()
  await toast.waitFor({ state: 'detached' })
  await page.locator('.toast').filter({ hasText: 'Undone.' }).getByRole('button', { name: 'Close' }).click()
}

inBrowser('renaming a file or folder can be undone', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  await store(context, 'report.txt')
  await page.reload()
  await pick(page, 'report.txt', 'Rename')
  await page.getByRole('dialog').getByLabel('Name').fill('wrong.txt')
  await page.keyboard.press('Enter')
  await row(page, 'wrong.txt').waitFor()
  await page.locator('.toast').filter({ hasText: 'Renamed to wrong.txt.' }).waitFor()
  await requireAccessible(page)
  await undo(page, 'Renamed to wrong.txt.')
  await row(page, 'report.txt').waitFor()
  await row(page, 'wrong.txt').waitFor({ state: 'detached' })
  await addNew(page, 'New folder')
  await page.getByRole('dialog').getByLabel('Name').fill('Harbour')
  await page.keyboard.press('Enter')
  await row(page, 'Harbour').waitFor()
  await pick(page, 'Harbour', 'Rename')
  await page.getByRole('dialog').getByLabel('Name').fill('Beach')
  await page.keyboard.press('Enter')
  await row(page, 'Beach').waitFor()
  await undo(page, 'Renamed to Beach.')
  await row(page, 'Harbour').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('moving files can be undone, each to the folder that it came from, also from a search', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const folderNamed = async (title: string): Promise<string> => {
    const metadata = {
      [`${service.base}${context}/resource/_newId`]: {
        'http://purl.org/dc/terms/title': [{ type: 'literal', value: title }],
      },
    }
    const made = await admin.post(`${context}?graphtype=list`, { metadata })
    assert.equal(made.status, 201, made.text)
    return made.json<{ entryId: string }>().entryId
  }
  const [harbour, beach] = [await folderNamed('Harbour'), await folderNamed('Beach')]
  const inHarbour = `&list=${encodeURIComponent(`${service.base}${context}/resource/${harbour}`)}`
  const one = await store(context, 'note-one.txt', 'x', 'text/plain', inHarbour)
  const two = await store(context, 'note-two.txt')
  const inFolder = async (folder: string): Promise<unknown> => (await admin.get(`${context}/resource/${folder}`)).json()
  await page.reload()
  await page.getByRole('searchbox', { name: 'Search all files' }).fill('note')
  await row(page, 'note-one.txt').waitFor()
  await page.waitForSelector('text=2 items')
  await page.getByLabel('Select all').check()
  const selection = page.getByRole('region', { name: 'Selection' })
  await selection.getByRole('button', { name: 'Move' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Open the folder Beach' }).click()
  await dialog.locator('[aria-current]').filter({ hasText: 'Beach' }).waitFor()
  await dialog.getByRole('button', { name: 'Move here' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.locator('.toast').filter({ hasText: 'moved' }).waitFor()
  assert.deepEqual([await inFolder(harbour), ((await inFolder(beach)) as string[]).sort()], [[], [one, two].sort()])
  await undo(page, 'moved')
  assert.deepEqual([await inFolder(harbour), await inFolder(beach)], [[one], []])
  await page.getByRole('searchbox', { name: 'Search all files' }).fill('')
  await row(page, 'note-two.txt').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('access to a context or file that was removed can be given back', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const file = await store(context, 'shared.txt')
  const asBen = service.visitor()
  await asBen.signIn(ben.name, GOOD_PASSWORD)
  const mayRead = async (): Promise<boolean> => (await asBen.get(`${context}/resource/${file}`)).status === 200
  for (const path of [`contexts/${context}/sharing`, `contexts/${context}/files?item=${file}&tab=access`]) {
    await page.goto(`${service.base}ui/${path}`)
    await page.getByLabel('User or group').fill(ben.name)
    await page.getByRole('button', { name: 'Grant access' }).click()
    await row(page, ben.name).filter({ hasText: 'shared directly' }).waitFor()
    assert.ok(await mayRead(), path)
    await page.getByRole('button', { name: `Remove ${ben.name}: read` }).click()
    await row(page, ben.name).filter({ hasText: 'shared directly' }).waitFor({ state: 'detached' })
    assert.ok(!(await mayRead()), path)
    await undo(page, 'Access removed.')
    await row(page, ben.name).filter({ hasText: 'shared directly' }).waitFor()
    assert.ok(await mayRead(), path)
    if (path.includes(file)) break
    await page.getByRole('button', { name: `Remove ${ben.name}: read` }).click()
    await row(page, ben.name).waitFor({ state: 'detached' })
  }
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a member who was removed from a group can be put back', async b => {
  const { page, complaints, close } = await newPerson(b)
  const made = await admin.post('_principals?graphtype=group', { resource: { name: 'sailors' } })
  const { entryId: group } = made.json<{ entryId: string }>()
  assert.equal((await admin.put(`_principals/resource/${group}`, [ben.id])).status, 204)
  await enter(page, service.base, 'admin', ADMIN_PASSWORD, `ui/admin/groups/${group}`)
  await page.getByRole('button', { name: `Remove ${ben.name}` }).click()
  await page.getByText('The group has no members yet.').waitFor()
  await undo(page, ben.name)
  await row(page, ben.name).waitFor()
  const { children } = (await admin.get(`_principals/resource/${group}`)).json<{
    children: Array<{ entryId: string }>
  }>()
  assert.deepEqual(
    children.map(({ entryId }) => entryId),
    [ben.id],
  )
  assert.deepEqual(complaints, [])
  await close()
})
