import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { addNew, pick, row, startFilesService } from '../support/files-page.ts'
import { enter, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, store, atFiles } = await startFilesService()
const ben = await addUser(admin, 'ben@example.org')
const cleo = await addUser(admin, 'cleo@example.org')
const dora = await addUser(admin, 'dora@example.org')

async function grant(page: Page, who: string): Promise<void> {
  await page.getByLabel('User or group').fill(who)
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.waitForSelector('text=Saved.')
}

inBrowser(
  'a single file is shared: the other user finds this file only; the owner sees the reason for the access and revokes it (D14.16)',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    const shared = await store(context, 'shared.txt', 'for Ben')
    const kept = await store(context, 'kept.txt')
    const setReaders = async (...ids: readonly string[]): Promise<void> => {
      const read = ids.map(id => ({ type: 'uri', value: `${service.base}_principals/resource/${id}` }))
      const info = (await admin.get(`_contexts/entry/${context}`)).json<{ info: Record<string, object> }>().info
      const subject = service.base + context
      const changed = { ...info, [subject]: { ...info[subject], 'http://entrystore.org/terms/read': read } }
      assert.equal((await admin.put(`_contexts/entry/${context}`, changed)).status, 204)
    }
    // Cleo reads the whole context, and keeps that when the file is shared.
    await setReaders(cleo.id)
    await page.reload()
    await pick(page, 'shared.txt', 'Share')
    await page.waitForSelector('text=Everyone with access to the space has access.')
    await row(page, cleo.name).filter({ hasText: 'access to the whole' }).waitFor()
    await grant(page, ben.name)
    await row(page, ben.name).filter({ hasText: 'shared directly' }).waitFor()
    await row(page, cleo.name).filter({ hasText: 'access to the whole' }).waitFor()
    await row(page, 'Administrators').filter({ hasText: 'administer the service' }).waitFor()
    await requireAccessible(page)

    const other = await newPerson(b)
    await enter(other.page, service.base, ben.name, GOOD_PASSWORD, 'ui/shared')
    await other.page.getByRole('link', { name: 'shared.txt', exact: true }).click()
    await other.page.locator('pre.preview').filter({ hasText: 'for Ben' }).waitFor()
    assert.equal(await other.page.getByRole('heading', { name: 'Spaces' }).count(), 0, 'nobody shares one with Ben')
    const asBen = service.visitor()
    await asBen.signIn(ben.name, GOOD_PASSWORD)
    assert.equal((await asBen.get(`${context}/resource/${shared}`)).status, 200)
    assert.equal((await asBen.get(`${context}/resource/${kept}`)).status, 403)
    const asCleo = service.visitor()
    await asCleo.signIn(cleo.name, GOOD_PASSWORD)
    assert.equal((await asCleo.get(`${context}/resource/${shared}`)).status, 200, 'she keeps her access')
    const asDora = service.visitor()
    await asDora.signIn(dora.name, GOOD_PASSWORD)
    await setReaders(cleo.id, dora.id)
    assert.equal((await asDora.get(`${context}/resource/${shared}`)).status, 200, 'who comes later has it too')
    await page.reload()
    await page.getByLabel('Only these people').click()
    const asked = page.getByRole('dialog', { name: 'Restrict access to these people?' })
    await asked.getByText(`Access is lost by: ${cleo.name}, ${dora.name}.`).waitFor()
    await asked.getByRole('button', { name: 'Restrict access' }).click()
    await page.waitForSelector('text=Access to the space or a folder above does not count here.')
    const seen = async (): Promise<number[]> =>
      await Promise.all(
        [asBen, asCleo, asDora].map(async one => (await one.get(`${context}/resource/${shared}`)).status),
      )
    assert.deepEqual(await seen(), [200, 403, 403])
    await page.getByLabel('Only these people').click()
    await page.waitForSelector('text=Everyone with access to the space has access.')
    assert.deepEqual(await seen(), [200, 200, 200])

    await page.goto(`${service.base}ui/shared-by-me`)
    await row(page, 'shared.txt')
      .filter({ hasText: `${ben.name}: read` })
      .waitFor()
    await page.getByRole('link', { name: 'Change access: shared.txt' }).click()
    await page.getByRole('button', { name: `Remove ${ben.name}: read` }).click()
    await row(page, ben.name).filter({ hasText: 'shared directly' }).waitFor({ state: 'detached' })
    assert.equal((await asBen.get(`${context}/resource/${shared}`)).status, 403)
    assert.deepEqual(await seen(), [403, 200, 200])
    assert.deepEqual([complaints, other.complaints], [[], []])
    await Promise.all([close(), other.close()])
  },
)

inBrowser(
  'a folder is shared with everything in it; the other user opens it and sees nothing else of the context',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    await addNew(page, 'New folder')
    await page.getByRole('dialog').getByLabel('Name').fill('Harbour')
    await page.keyboard.press('Enter')
    await row(page, 'Harbour').waitFor()
    const folder = (await admin.get(context)).json<string[]>()[0] ?? ''
    const list = encodeURIComponent(`${service.base}${context}/resource/${folder}`)
    await store(context, 'inside.txt', 'in the folder', 'text/plain', `&list=${list}`)
    await pick(page, 'Harbour', 'Share')
    await grant(page, ben.name)
    await row(page, ben.name).waitFor()

    const other = await newPerson(b, { refusals: [403] })
    await enter(other.page, service.base, ben.name, GOOD_PASSWORD, 'ui/shared')
    await other.page.getByRole('link', { name: 'Harbour' }).click()
    await row(other.page, 'inside.txt').waitFor()
    assert.deepEqual(await other.page.locator('.crumbs li').allInnerTexts(), ['Shared with me', 'Harbour'])
    await other.page.getByRole('link', { name: 'inside.txt', exact: true }).click()
    await other.page.locator('pre.preview').filter({ hasText: 'in the folder' }).waitFor()
    assert.deepEqual([complaints, other.complaints], [[], []])
    await Promise.all([close(), other.close()])
  },
)

inBrowser(
  'what moves out of a shared folder is no longer shared, the page says so before and after, and Undo shares it again; what was shared is listed, not what is in it (D11.7)',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    await addNew(page, 'New folder')
    await page.getByRole('dialog').getByLabel('Name').fill('Plans')
    await page.keyboard.press('Enter')
    await row(page, 'Plans').waitFor()
    const folder = (await admin.get(context)).json<string[]>()[0] ?? ''
    const list = encodeURIComponent(`${service.base}${context}/resource/${folder}`)
    const file = await store(context, 'sketch.txt', 'a sketch', 'text/plain', `&list=${list}`)
    await pick(page, 'Plans', 'Share')
    await grant(page, dora.name)
    await page.getByLabel('Close').click()

    const asDora = service.visitor()
    await asDora.signIn(dora.name, GOOD_PASSWORD)
    const status = async (): Promise<number> => (await asDora.get(`${context}/resource/${file}`)).status
    assert.equal(await status(), 200)
    await page.getByRole('link', { name: 'Plans' }).click()
    await row(page, 'sketch.txt').waitFor()
    await pick(page, 'sketch.txt', 'Share')
    await row(page, dora.name).filter({ hasText: 'from the folder Plans' }).waitFor()
    await requireAccessible(page)
    await page.getByLabel('Close').click()

    await pick(page, 'sketch.txt', 'Move')
    await page.getByRole('dialog').getByText('1 person will no longer have access.').waitFor()
    await page.getByRole('button', { name: 'Move here' }).click()
    await page.getByText('1 person no longer has access.').waitFor()
    assert.equal(await status(), 403)
    await page.getByRole('button', { name: 'Undo' }).click()
    await row(page, 'sketch.txt').waitFor()
    assert.equal(await status(), 200)

    const other = await newPerson(b)
    await enter(other.page, service.base, dora.name, GOOD_PASSWORD, 'ui/shared')
    await row(other.page, 'Plans').waitFor()
    assert.equal(await row(other.page, 'sketch.txt').count(), 0)
    await page.goto(`${service.base}ui/shared-by-me`)
    await row(page, 'Plans').filter({ hasText: dora.name }).waitFor()
    assert.equal(await row(page, 'sketch.txt').count(), 0)
    assert.deepEqual([complaints, other.complaints], [[], []])
    await Promise.all([close(), other.close()])
  },
)

inBrowser('Only these people on a folder closes everything in it to readers of the space (D14.16)', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const info = (await admin.get(`_contexts/entry/${context}`)).json<{ info: Record<string, object> }>().info
  const read = [{ type: 'uri', value: `${service.base}_principals/resource/${cleo.id}` }]
  const changed = { ...info, [service.base + context]: { 'http://entrystore.org/terms/read': read } }
  assert.equal((await admin.put(`_contexts/entry/${context}`, changed)).status, 204)
  await addNew(page, 'New folder')
  await page.getByRole('dialog').getByLabel('Name').fill('Closed')
  await page.keyboard.press('Enter')
  await row(page, 'Closed').waitFor()
  const folder = (await admin.get(context)).json<string[]>()[0] ?? ''
  const list = encodeURIComponent(`${service.base}${context}/resource/${folder}`)
  const file = await store(context, 'inside.txt', 'inside', 'text/plain', `&list=${list}`)
  const asCleo = service.visitor()
  await asCleo.signIn(cleo.name, GOOD_PASSWORD)
  const status = async (): Promise<number> => (await asCleo.get(`${context}/resource/${file}`)).status
  assert.equal(await status(), 200)
  await pick(page, 'Closed', 'Share')
  await page.getByRole('switch', { name: 'Only these people' }).click()
  await page.getByText(`Access is lost by: ${cleo.name}.`).waitFor()
  await page.getByRole('button', { name: 'Restrict access' }).click()
  await page.waitForSelector('text=Saved.')
  assert.equal(await status(), 403)
  assert.deepEqual(complaints, [])
  await close()
})
