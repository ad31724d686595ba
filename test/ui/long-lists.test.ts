import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { newTitled } from '../support/lists.ts'
import { newFile, newLink } from '../support/public-links.ts'
import { newContext } from '../support/service.ts'
import { enter, newPerson, openBrowser } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService()

const context = await newContext(admin, [id])
for (let number = 100; number < 140; number++)
  await store(context, `a record of the year with a name number-${number}.txt`)
const long = `${'very-long-name-'.repeat(12)}.txt`
const trashed = await store(context, long)
await admin.post(`${context}/trash/${trashed}`)

/** What a tap in the middle of each drawn name would hit, and how wide the name is. */
const namesOf = (page: Page) =>
  page.locator('.files tbody th.name a').evaluateAll(elements =>
    elements
      .map(element => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.top > 0 && box.bottom < innerHeight)
      .map(({ element, box }) => {
        const hit = document.elementFromPoint(box.left + Math.min(box.width, 120) / 2, box.top + box.height / 2)
        return { width: element.closest('th')?.clientWidth ?? 0, isHit: element.contains(hit) }
      }),
  )

for (const locale of ['en', 'sv', 'de']) {
  for (const width of [390, 768]) {
    inBrowser(`with 40 files, names keep their width and can be tapped: ${width} px, ${locale}`, async b => {
      const { page, complaints, close } = await newPerson(b, { locale, viewport: { width, height: 844 } })
      await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files`)
      await page.locator('.files tbody th.name a').first().waitFor()
      await page.locator('.files').scrollIntoViewIfNeeded()
      assert.ok((await page.locator('.files .gap').count()) > 0, 'the list is longer than what is drawn')
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, 'the bar fits')
      const names = await namesOf(page)
      assert.ok(names.length > 3, `${names.length} names are in the window`)
      for (const { width: space, isHit } of names) {
        assert.ok(space >= 200, `a name has ${space} of ${width} px`)
        assert.ok(isHit, 'a tap on the name hits the name')
      }
      assert.deepEqual(complaints, [])
      await close()
    })
  }
}

inBrowser('a long name is cut in the trash, and every button stays in the window', async b => {
  for (const width of [390, 1280]) {
    const { page, complaints, close } = await newPerson(b, { viewport: { width, height: 844 } })
    await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/trash`)
    const restore = page.getByRole('button', { name: /^Restore/ }).first()
    await restore.waitFor()
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width)
    const box = await restore.boundingBox()
    assert.ok(box && box.x + box.width <= width, JSON.stringify(box))
    assert.deepEqual(complaints, [])
    await close()
  }
})

inBrowser('menus and tiles stay within the window, and the help opens from a check box too', async b => {
  const titled = await newContext(admin, [id])
  const text = [{ type: 'literal', value: 'A space whose title is longer than any tile is wide '.repeat(3) }]
  const title = { [service.base + titled]: { 'http://purl.org/dc/terms/title': text } }
  assert.equal((await admin.put(`_contexts/metadata/${titled}`, title)).status, 204)
  await admin.put(`${titled}/quota`, { quota: 1000 })
  for (const width of [390, 1280]) {
    const { page, complaints, close } = await newPerson(b, { viewport: { width, height: 844 } })
    await enter(page, service.base, name, GOOD_PASSWORD)
    const tile = page.locator('.tile').filter({ hasText: 'A space whose title' })
    const [outer, inner] = [await tile.boundingBox(), await tile.locator('.track').boundingBox()]
    assert.ok(outer && inner && inner.x + inner.width <= outer.x + outer.width, JSON.stringify([outer, inner]))
    assert.ok(outer.x + outer.width <= width, `a tile ends at ${outer.x + outer.width} of ${width} px`)
    await page.goto(`${service.base}ui/contexts/${context}/files`)
    await page.locator('.files tbody th.name a').first().waitFor()
    await page.getByRole('button', { name: 'New', exact: true }).click()
    const menu = await page.getByRole('menu').boundingBox()
    assert.ok(menu && menu.x >= 0 && menu.x + menu.width <= width, JSON.stringify(menu))
    await page.keyboard.press('Escape')
    if (width === 1280) {
      await page.locator('.files tbody input[type=checkbox]').first().focus()
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    }
    assert.deepEqual(complaints, [])
    await close()
  }
})

inBrowser('a name of 250 characters fits on every page that shows it, and covers no button', async b => {
  const stem = 'another-very-long-name-'.repeat(10)
  const folder = await newTitled(admin, context, `${stem}folder`, '?graphtype=list')
  await newFile(admin, context, { name: `${stem}inside.txt`, bytes: 'x', list: folder })
  const shared = await store(context, `${stem}shared.txt`)
  const { url } = await newLink(admin, context, folder)
  const pages = [
    [`ui/contexts/${context}/files`, `${stem}folder`],
    [`ui/contexts/${context}/files/${folder}`, `${stem}inside.txt`],
    [`ui/contexts/${context}/files?search=another`, `${stem}shared.txt`],
    [`ui/contexts/${context}/files?item=${shared}`, `${stem}shared.txt`],
    [`ui/contexts/${context}/files?item=${shared}&tab=access`, `${stem}shared.txt`],
    [url.slice(service.base.length), `${stem}inside.txt`],
  ] as const
  for (const width of [390, 1280]) {
    const { page, complaints, close } = await newPerson(b, { viewport: { width, height: 844 } })
    await enter(page, service.base, name, GOOD_PASSWORD)
    for (const [path, shown] of pages) {
      await page.goto(service.base + path)
      await page.getByText(shown).filter({ visible: true }).first().waitFor()
      await page.locator('.spinner').first().waitFor({ state: 'detached' })
      const beyond = await page.evaluate(() => [
        document.documentElement.scrollWidth - innerWidth,
        ...[...document.querySelectorAll('main button, main a.button, dialog button:not([role=tab])')].flatMap(
          button => {
            const { right, width } = button.getBoundingClientRect()
            return width > 0 && (button as HTMLElement).checkVisibility() ? [right - innerWidth] : []
          },
        ),
      ])
      assert.ok(Math.max(...beyond) <= 0, `${path} at ${width} px: ${Math.max(...beyond)} px beyond the window`)
    }
    assert.deepEqual(complaints, [])
    await close()
  }
})
