import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { addNew, row, startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import { enter, escape, newPerson, openBrowser, phone, requireAccessible, shiftOf, watchShifts } from '../support/ui.ts'
import { eventually, until } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, filesUrl, entriesOf, store, atFiles } = await startFilesService()

const names = (page: Page): Promise<string[]> => page.locator('tbody th.name bdi').allInnerTexts()
const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '')
const selected = (page: Page): Promise<string[]> =>
  page.locator('tbody tr[aria-selected=true] th.name bdi').allInnerTexts()

/** A context of Anna's with this number of files. */
async function contextWith(count: number): Promise<string> {
  const context = await newContext(admin, [id])
  for (let at = 1; at <= count; at++) await store(context, `record-${at}.txt`)
  return context
}

async function openList(page: Page, context: string): Promise<void> {
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files`)
  await page.locator('tbody th.name a').first().waitFor()
}

inBrowser(
  '"Select all" means all: more items than are loaded move to the trash, and Undo brings them back',
  async b => {
    const context = await contextWith(105)
    const { page, complaints, close } = await newPerson(b)
    await openList(page, context)
    await page.getByLabel('Select all').check()
    await page.waitForSelector('text=105 selected')
    await page.getByLabel('Select record-2.txt').uncheck()
    await page.waitForSelector('text=104 selected')
    assert.equal(await page.getByLabel('Select all').isChecked(), false)
    await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Delete' }).click()
    await page.locator('.toast').filter({ hasText: '104 items moved to the trash.' }).waitFor()
    assert.equal((await entriesOf(context)).length, 1)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.locator('.toast').filter({ hasText: '104 items restored.' }).waitFor()
    assert.equal((await entriesOf(context)).length, 105)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('nothing moves by itself while a long list is scrolled: the layout shift stays below 0.02', async b => {
  const context = await contextWith(105)
  const { page, complaints, close } = await newPerson(b, { viewport: { width: 1280, height: 800 } })
  await watchShifts(page)
  await openList(page, context)
  await page.evaluate(async () => {
    for (let step = 1; step <= 40; step++) {
      scrollTo(0, (step / 40) * document.documentElement.scrollHeight)
      await new Promise(requestAnimationFrame)
    }
  })
  await row(page, 'record-105.txt').waitFor()
  const shift = await shiftOf(page)
  assert.ok(shift < 0.02, `${shift}`)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('what the person may not delete stays, and the message names the reason; the rest is deleted', async b => {
  const context = await newContext(admin, [])
  const write = [{ type: 'uri', value: `${service.base}_principals/resource/${id}` }]
  await admin.put(`_contexts/entry/${context}`, {
    [service.base + context]: { 'http://entrystore.org/terms/write': write },
  })
  await store(context, 'free.txt')
  const kept = await store(context, 'kept.txt')
  const { info } = (await admin.get(`${context}/entry/${kept}`)).json<{ info: Record<string, object> }>()
  const resource = `${service.base}${context}/resource/${kept}`
  const narrowed = {
    ...info,
    [resource]: { ...info[resource], 'http://entrystore.org/terms/read': write },
    [`${service.base}${context}/metadata/${kept}`]: { 'http://entrystore.org/terms/read': write },
  }
  assert.equal((await admin.put(`${context}/entry/${kept}`, narrowed)).status, 204)
  const { page, complaints, close } = await newPerson(b, { refusals: [403] })
  await openList(page, context)
  await row(page, 'free.txt').getByRole('link').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowDown')
  await page.waitForSelector('text=2 selected')
  await page.keyboard.press('Delete')
  await page.locator('.toast.bad').waitFor()
  await page.locator('.toast').filter({ hasText: 'free.txt moved to the trash.' }).waitFor()
  await row(page, 'free.txt').waitFor({ state: 'detached' })
  assert.deepEqual(await names(page), ['kept.txt'])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'the list is one stop of the Tab key; arrows, Space, Shift, F2, Delete, Enter, / and ? work in it',
  async b => {
    const context = await contextWith(40)
    const { page, complaints, close } = await newPerson(b)
    await openList(page, context)
    assert.equal(await page.locator('tbody [tabindex="0"]').count(), 1)
    assert.equal(await page.locator('tbody :is(a, button, input):not([tabindex="-1"], [tabindex="0"])').count(), 0)
    await page.locator('tbody [tabindex="0"]').focus()
    await page.keyboard.press('F2')
    const rename = page.getByRole('dialog', { name: 'Rename' })
    await rename.getByLabel('Name').waitFor()
    await page.waitForFunction(() => {
      const field = document.activeElement as HTMLInputElement
      return field.value?.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0) === 'record-1'
    })
    await escape(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    assert.equal(await focused(page), 'record-3.txt')
    await page.keyboard.press('Space')
    assert.deepEqual(await selected(page), ['record-3.txt'])
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    await until(
      () => selected(page),
      all => all.join() === 'record-3.txt,record-4.txt,record-5.txt',
    )
    await page.keyboard.press('Escape')
    assert.deepEqual(await selected(page), [])
    await page.keyboard.press('End')
    await page.waitForFunction(() => document.activeElement?.textContent === 'record-40.txt')
    await page.keyboard.press('Home')
    await page.waitForFunction(() => document.activeElement?.textContent === 'record-1.txt')
    await page.keyboard.press('ArrowRight')
    assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), 'Actions for record-1.txt')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Delete')
    await row(page, 'record-1.txt').filter({ hasNotText: 'record-1' }).waitFor({ state: 'detached' })
    await page.locator('.toast').filter({ hasText: 'record-1.txt moved to the trash.' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await requireAccessible(page)
    await escape(page)
    await page.keyboard.press('/')
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('type')), 'search')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('Shift and a click select a range, a click on a row selects it alone, and no row moves', async b => {
  const context = await contextWith(6)
  const { page, complaints, close } = await newPerson(b)
  await openList(page, context)
  const top = async (): Promise<number> => (await row(page, 'record-3.txt').boundingBox())?.y ?? 0
  const before = await top()
  assert.ok(before < 300, `the third row is at ${before}`)
  await page.getByLabel('Select record-2.txt').check()
  assert.equal(await top(), before)
  await page.getByLabel('Select record-5.txt').click({ modifiers: ['Shift'] })
  await page.waitForSelector('text=4 selected')
  await row(page, 'record-6.txt').locator('.col-size').click()
  assert.deepEqual(await selected(page), ['record-6.txt'])
  await row(page, 'record-1.txt').click({ button: 'right' })
  await page.getByRole('menu', { name: 'Actions for record-1.txt' }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the list begins in the upper fifth of the window, and its bar stays when it is scrolled', async b => {
  const context = await contextWith(40)
  const { page, complaints, close } = await newPerson(b, { viewport: { width: 1280, height: 800 } })
  await openList(page, context)
  const top = (await page.locator('.files thead').boundingBox())?.y ?? 0
  assert.ok(top <= 160, `it begins at ${top}`)
  await page.evaluate(() => scrollTo(0, 600))
  await page.waitForFunction(() => (document.querySelector('.files-bar')?.getBoundingClientRect().top ?? 0) < 70)
  const bar = await page.locator('.files-bar').boundingBox()
  const head = await page.locator('.files thead th').first().boundingBox()
  assert.ok(bar && head && Math.abs(bar.y + bar.height - head.y) <= 1, JSON.stringify([bar, head]))
  assert.deepEqual(complaints, [])
  await close()
})

/** Drops a file on an element, as the browser would. */
const drop = (page: Page, selector: string, file: string): Promise<void> =>
  page.evaluate(
    ([selector, file]) => {
      const data = new DataTransfer()
      data.items.add(new File(['dropped'], file ?? ''))
      for (const type of ['dragover', 'drop']) {
        const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true })
        const isTaken = !document.querySelector(selector ?? '')?.dispatchEvent(event)
        if (!isTaken) throw new Error(`${type} has its usual effect`)
      }
    },
    [selector, file],
  )

inBrowser(
  'files dropped anywhere are uploaded, on a folder into it; where nobody may write they have no effect',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    await addNew(page, 'New folder')
    await page.getByRole('dialog').getByLabel('Name').fill('Harbour')
    await page.keyboard.press('Enter')
    await row(page, 'Harbour').waitFor()
    await drop(page, 'footer, .top', 'anywhere.txt')
    await row(page, 'anywhere.txt').waitFor()
    await drop(page, 'tr[data-folder]', 'inside.txt')
    await page.locator('.toast').filter({ hasText: '1 file uploaded.' }).first().waitFor()
    await eventually('it is there', async () => (await entriesOf(context)).length === 3)
    await page.getByRole('link', { name: 'Harbour' }).click()
    await row(page, 'inside.txt').waitFor()
    const closed = await newContext(admin, [])
    const read = [{ type: 'uri', value: `${service.base}_principals/resource/${id}` }]
    await admin.put(`_contexts/entry/${closed}`, {
      [service.base + closed]: { 'http://entrystore.org/terms/read': read },
    })
    await page.goto(filesUrl(closed))
    await page.waitForSelector('.empty')
    await drop(page, 'main', 'refused.txt').catch(() => undefined)
    assert.deepEqual(await entriesOf(closed), [])
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('the tray of uploads closes by itself after success and stays after a failure', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [503] })
  await atFiles(page)
  const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('x') })
  await page.setInputFiles('input[type=file]', file('good.txt'))
  await page.locator('.tray').waitFor()
  await page.locator('.tray').waitFor({ state: 'detached' })
  await page.route(/\?file=/, route => route.fulfill({ status: 503, json: { code: 'overloaded' } }), { times: 1 })
  await page.setInputFiles('input[type=file]', file('bad.txt'))
  await page.locator('.upload .error').waitFor()
  await page.locator('.toast.bad').filter({ hasText: '0 files uploaded, 1 failed.' }).waitFor()
  await page.getByRole('button', { name: 'Try again: bad.txt' }).click()
  await row(page, 'bad.txt').waitFor()
  // Nobody looks at it any more.
  await page.mouse.move(4, 300)
  await page.getByRole('searchbox').focus()
  await page.locator('.tray').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('an upload that the network interrupts starts again when the network is back', async b => {
  const { page, close } = await newPerson(b)
  await atFiles(page)
  await page.route(/\?file=/, route => route.abort('internetdisconnected'), { times: 1 })
  await page.setInputFiles('input[type=file]', { name: 'later.txt', mimeType: 'text/plain', buffer: Buffer.from('x') })
  await page.locator('.upload .error').waitFor()
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await row(page, 'later.txt').waitFor()
  await close()
})

inBrowser(
  'a search finds names, titles, descriptions and tags in all spaces, without accents, and says where',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const other = await newContext(admin, [id])
    await admin.put(other, { alias: 'other-space' })
    const context = await atFiles(page)
    const made = await admin.post(`${other}?graphtype=list`, {
      metadata: {
        [`${service.base}${other}/resource/_newId`]: {
          'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Tides' }],
        },
      },
    })
    const folder = made.json<{ entryId: string }>().entryId
    const list = encodeURIComponent(`${service.base}${other}/resource/${folder}`)
    const described = await store(other, 'a.txt', 'x', 'text/plain', `&list=${list}`)
    await admin.put(`${other}/metadata/${described}`, {
      [`${service.base}${other}/resource/${described}`]: {
        'http://purl.org/dc/terms/description': [{ type: 'literal', value: 'A résumé of the voyage' }],
        'http://www.w3.org/ns/dcat#keyword': [{ type: 'literal', value: 'lighthouse' }],
      },
    })
    await store(context, 'voyage.txt')
    const search = page.getByRole('searchbox', { name: 'Search all files' })
    await search.fill('resume')
    await row(page, 'a.txt').getByText('other-space › Tides').waitFor()
    assert.deepEqual(await names(page), ['a.txt'])
    await requireAccessible(page)
    await search.fill('voyage')
    await page.waitForSelector('text=2 items')
    await search.fill('lighthouse voyage')
    await page.waitForSelector('text=1 item')
    await page.getByLabel('Only in this space').check()
    await page.waitForSelector('text=Nothing found for “lighthouse voyage”.')
    await page.getByLabel('Only in this space').uncheck()
    await row(page, 'a.txt').getByRole('link', { name: 'a.txt', exact: true }).click()
    await page.getByRole('dialog', { name: 'a.txt' }).getByLabel('Description', { exact: true }).waitFor()
    assert.match(page.url(), new RegExp(`item=${other}%2F${described}`))
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('on a phone rows have 56 pixels, check boxes come with Select, and menus come from below', async b => {
  const context = await contextWith(40)
  const { page, complaints, close } = await newPerson(b, phone)
  await openList(page, context)
  const box = await row(page, 'record-1.txt').first().boundingBox()
  assert.ok(box && Math.abs(box.height - 56) <= 1, JSON.stringify(box))
  assert.equal(await page.getByLabel('Select record-1.txt').isVisible(), false)
  const add = await page.getByRole('button', { name: 'New', exact: true }).boundingBox()
  assert.ok(add && add.width >= 48 && add.y > 700, JSON.stringify(add))
  await page.getByRole('button', { name: 'Actions for record-2.txt' }).click()
  const sheet = await page.getByRole('menu').boundingBox()
  assert.ok(sheet && sheet.y + sheet.height >= phone.viewport.height - 2, JSON.stringify(sheet))
  await requireAccessible(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByLabel('Select record-1.txt').check()
  await page.waitForSelector('text=1 selected')
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('somebody who comes back to a long list finds it where they left it', async b => {
  const context = await contextWith(60)
  const made = await admin.post(`${context}?graphtype=list`, {
    metadata: {
      [`${service.base}${context}/resource/_newId`]: {
        'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'zz' }],
      },
    },
  })
  assert.equal(made.status, 201)
  const { page, complaints, close } = await newPerson(b)
  await openList(page, context)
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await row(page, 'record-60.txt').waitFor()
  await page.evaluate(() => scrollTo(0, 1200))
  // A click of the test would scroll first.
  await page
    .locator('.crumbs a')
    .first()
    .evaluate(link => (link as HTMLElement).click())
  await page.waitForSelector('.tile')
  await page.goBack()
  await page.waitForFunction(() => scrollY > 1100)
  assert.deepEqual(complaints, [])
  await close()
})
