import assert from 'node:assert/strict'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { row, startFilesService } from '../support/files-page.ts'
import { ADMIN_PASSWORD, newContext } from '../support/service.ts'
import { desktop, enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, filesUrl, store } = await startFilesService()
const context = await newContext(admin, [id])
await admin.put(context, { alias: 'harbour' })
await store(context, 'tide gauge.txt')
await admin.post(`${context}?entrytype=link&resource=https://example.org/tides`, {})

inBrowser(
  'every page has the search: what is found in all spaces is opened, and the next words are typed there',
  async b => {
    const { page, complaints, close } = await newPerson(b, desktop)
    await enter(page, service.base, name, GOOD_PASSWORD)
    const search = page.getByRole('searchbox', { name: 'Search all files' })
    for (const path of ['', 'shared', 'shared-by-me', 'account', 'nowhere']) {
      await page.goto(`${service.base}ui/${path}`)
      await search.waitFor()
    }
    await page.goto(`${service.base}ui/shared`)
    await search.waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('tide')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${service.base}ui/search?search=tide`)
    await row(page, 'tide gauge.txt').filter({ hasText: 'harbour' }).waitFor()
    await row(page, 'example.org/tides').waitFor()
    await requireAccessible(page)
    await search.fill('gauge')
    await row(page, 'example.org/tides').waitFor({ state: 'detached' })
    assert.equal(new URL(page.url()).search, '?search=gauge')
    await row(page, 'tide gauge.txt').getByRole('link').click()
    await page.getByRole('dialog', { name: 'tide gauge.txt' }).waitFor()
    await page.keyboard.press('Escape')
    await search.fill('no such thing')
    await page.getByText('Nothing found for “no such thing”').waitFor()
    await search.fill('')
    await page.getByText('Type at least one word to search for.').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'on a list of files it filters the list, in one space if wanted, and another page begins without it',
  async b => {
    const { page, complaints, close } = await newPerson(b, phone)
    const other = await newContext(admin, [id])
    await store(other, 'tide log.txt')
    await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${other}/files`)
    const search = page.getByRole('searchbox', { name: 'Search all files' })
    await search.fill('tide')
    await row(page, 'tide gauge.txt').waitFor()
    assert.equal(page.url(), `${filesUrl(other)}?search=tide`)
    await page.getByLabel('Only in this space').check()
    await row(page, 'tide gauge.txt').waitFor({ state: 'detached' })
    await row(page, 'tide log.txt').waitFor()
    await requireAccessible(page)
    await page.getByRole('navigation', { name: 'Folder path' }).getByRole('link').first().click()
    await page.waitForURL(`${service.base}ui/`)
    assert.equal(await search.inputValue(), '')
    await page.goBack()
    await row(page, 'tide log.txt').waitFor()
    assert.equal(await search.inputValue(), 'tide')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('the bar of the page has room for it in each width', async b => {
  for (const width of [320, 390, 640, 768, 1024, 1280]) {
    const { page, complaints, close } = await newPerson(b, { viewport: { width, height: 700 }, locale: 'de-DE' })
    await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/account')
    const search = await page.getByRole('searchbox', { name: 'Alle Dateien durchsuchen' }).boundingBox()
    assert.ok((search?.width ?? 0) >= 100, `${width}: ${JSON.stringify(search)}`)
    const bar = await page.locator('header.top').boundingBox()
    assert.ok((bar?.height ?? 0) <= (width < 360 ? 150 : width < 640 ? 110 : 70), `${width}: ${JSON.stringify(bar)}`)
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false)
    assert.deepEqual(complaints, [])
    await close()
  }
})
