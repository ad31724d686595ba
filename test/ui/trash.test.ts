import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { membersOf } from '../support/archives.ts'
import { newTitled } from '../support/lists.ts'
import { newContext, startInProcess } from '../support/service.ts'
import { desktop, newPerson, openBrowser, phone, requireAccessible, signIn } from '../support/ui.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const inBrowser = await openBrowser()
const anna = await addUser(admin, 'anna@example.org')

async function store(context: string, file: string, body: string, folder?: string): Promise<void> {
  const list = folder === undefined ? '' : `&list=${encodeURIComponent(`${admin.base}${context}/resource/${folder}`)}`
  const headers = { 'content-type': 'text/plain', 'content-disposition': `attachment; filename="${file}"` }
  const answer = await admin.ask(`${context}?file${list}`, { method: 'POST', body, headers })
  assert.equal(answer.status, 201, answer.text)
}

/** A folder with a file, two files beside it, and Anna on the page of them. */
async function atFiles(page: Page): Promise<string> {
  const context = await newContext(admin, [anna.id])
  const folder = await newTitled(admin, context, 'Harbour', '?graphtype=list')
  await store(context, 'inside.txt', 'inside', folder)
  for (const file of ['a.txt', 'b.txt']) await store(context, file, file)
  await signIn(page, service.base, anna.name, GOOD_PASSWORD)
  await page.goto(`${service.base}ui/contexts/${context}/files`)
  await page.waitForSelector('text=3 items')
  return context
}

const pick = async (page: Page, file: string, action: string): Promise<void> => {
  await page.getByRole('button', { name: `Actions for ${file}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

inBrowser('by keyboard, Undo restores a deleted file, and the trash restores a folder with its content', async b => {
  const { page, complaints, close } = await newPerson(b)
  await atFiles(page)
  await pick(page, 'a.txt', 'Delete')
  // As long as it has the focus, the message stays.
  await page.getByRole('button', { name: 'Undo' }).focus()
  await page.waitForSelector('text=2 items')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=3 items')
  await pick(page, 'Harbour', 'Delete')
  await page.waitForSelector('text=2 items')
  await page.getByRole('link', { name: 'Trash' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=Files in the trash take 6 B.')
  await page.getByRole('button', { name: 'Restore Harbour' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=The trash is empty.')
  await page.locator('.crumbs a').first().click()
  await page.getByRole('link', { name: 'Harbour' }).click()
  await page.waitForSelector('text=inside.txt')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'the trash deletes one item permanently after a confirmation, and is accessible on a phone, also in the dark theme',
  async b => {
    for (const look of [phone, desktop]) {
      const { page, complaints, close } = await newPerson(b, {
        ...look,
        colorScheme: look === phone ? 'dark' : 'light',
      })
      const context = await atFiles(page)
      for (const id of (await admin.get(context)).json<string[]>()) await admin.post(`${context}/trash/${id}`)
      await page.goto(`${service.base}ui/contexts/${context}/trash`)
      await page.getByRole('button', { name: 'Restore b.txt' }).waitFor()
      await requireAccessible(page)
      if (look === desktop) await requireWholeWords(page)
      await page.getByRole('button', { name: 'Delete permanently: b.txt' }).click()
      const dialog = page.getByRole('dialog', { name: 'Delete b.txt permanently?' })
      await requireAccessible(page)
      await dialog.getByRole('button', { name: 'Delete permanently' }).click()
      await page.getByRole('button', { name: 'Restore b.txt' }).waitFor({ state: 'detached' })
      assert.deepEqual(complaints, [])
      await close()
    }
  },
)

inBrowser('several items are restored or deleted together', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  for (const id of (await admin.get(context)).json<string[]>()) await admin.post(`${context}/trash/${id}`)
  await page.goto(`${service.base}ui/contexts/${context}/trash`)
  const selection = page.getByRole('group', { name: 'Selection' })
  for (const name of ['a.txt', 'Harbour']) await page.getByLabel(`Select ${name}`).check()
  await selection.getByText('2 selected').waitFor()
  await requireAccessible(page)
  await selection.getByRole('button', { name: 'Restore' }).click()
  await page.waitForSelector('text=2 items restored.')
  await page.getByLabel('Select b.txt').check()
  await selection.getByRole('button', { name: 'Delete permanently' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete b.txt permanently?' })
  await dialog.getByRole('button', { name: 'Delete permanently' }).click()
  await page.waitForSelector('text=The trash is empty.')
  assert.equal((await admin.get(context)).json<string[]>().length, 3, 'the folder, its file and one more are back')
  assert.deepEqual(complaints, [])
  await close()
})

/** In a narrow window, no word of the times is broken, and the table fits. */
async function requireWholeWords(page: Page): Promise<void> {
  await page.setViewportSize({ width: 800, height: 520 })
  const [lines, overflow] = await page.evaluate(() => {
    const linesOf = (node: Node, from: number, to: number): number => {
      const range = document.createRange()
      range.setStart(node, from)
      range.setEnd(node, to)
      return range.getClientRects().length
    }
    const texts = [...document.querySelectorAll('td.whole')].flatMap(cell => {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      const nodes: Node[] = []
      while (walker.nextNode()) nodes.push(walker.currentNode)
      return nodes
    })
    const words = texts.flatMap(node =>
      [...(node.textContent ?? '').matchAll(/\S+/g)].map(({ 0: word, index }) =>
        linesOf(node, index, index + word.length),
      ),
    )
    return [words, document.documentElement.scrollWidth - innerWidth] as const
  })
  assert.ok(lines.length >= 4, `${lines.length} words`)
  assert.deepEqual(
    lines.filter(count => count !== 1),
    [],
  )
  assert.ok(overflow <= 0, `${overflow} pixels too wide`)
}

inBrowser(
  'a reader who owns a single file finds its way back from the trash; other readers see no link to it',
  async b => {
    const context = await newContext(admin, [anna.id])
    const ben = await addUser(admin, 'ben@example.org')
    const user = (id: string) => ({ type: 'uri', value: `${service.base}_principals/resource/${id}` })
    const { info } = (await admin.get(`_contexts/entry/${context}`)).json<{ info: Record<string, object> }>()
    const readers = { 'http://entrystore.org/terms/read': [user(ben.id)] }
    const shared = { ...info, [service.base + context]: readers }
    assert.equal((await admin.put(`_contexts/entry/${context}`, shared)).status, 204)
    const own = await newTitled(admin, context, 'Plans', '?graphtype=list')
    const owners = {
      [`${service.base}${context}/entry/${own}`]: { 'http://entrystore.org/terms/write': [user(ben.id)] },
    }
    assert.equal((await admin.put(`${context}/entry/${own}`, owners)).status, 204)
    await store(context, 'a.txt', 'a')
    const { page, complaints, close } = await newPerson(b)
    await signIn(page, service.base, ben.name, GOOD_PASSWORD)
    await page.goto(`${service.base}ui/contexts/${context}/files`)
    await page.waitForSelector('text=2 items')
    assert.equal(await page.getByRole('link', { name: 'Trash' }).count(), 0)
    await pick(page, 'Plans', 'Delete')
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByRole('button', { name: 'Restore Plans' }).click()
    await page.waitForSelector('text=The trash is empty.')
    assert.equal((await admin.get(`${context}/entry/${own}`)).status, 200)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('selected files are downloaded as one zip', async b => {
  const { page, complaints, close } = await newPerson(b)
  await atFiles(page)
  await page.getByLabel('Select Harbour').check()
  await page.getByLabel('Select b.txt').check()
  const coming = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download as zip' }).click()
  const members = await membersOf(await readFile(await (await coming).path()))
  const names = members.map(({ name }) => name)
  assert.deepEqual(names.toSorted(), ['Harbour/', 'Harbour/inside.txt', 'b.txt'])
  assert.deepEqual(complaints, [])
  await close()
})
