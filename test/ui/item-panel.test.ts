import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { row, startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import { desktop, enter, escape, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService()

const DCT = 'http://purl.org/dc/terms/'
const context = await newContext(admin, [id])
const open = async (page: Page, query = ''): Promise<void> => {
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files${query}`)
  await page.locator('tbody th.name a').first().waitFor()
}

await store(context, 'a.txt', 'the first')
const second = await store(context, 'b.txt', 'the second')
await store(context, 'c.txt', 'the third')

inBrowser(
  'the details of a file have an address; arrows go to the files beside it; going back closes them',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    await open(page)
    await page.getByRole('link', { name: 'b.txt', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('the second').waitFor()
    assert.ok(page.url().endsWith(`/files?item=${second}`), page.url())
    await page.keyboard.press('ArrowRight')
    await dialog.getByText('the third').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Next file' }).isDisabled())
    await page.keyboard.press('ArrowLeft')
    await dialog.getByText('the second').waitFor()
    await page.reload()
    await dialog.getByText('the second').waitFor()
    await dialog.getByText(/^[0-9a-f]{64}$/).waitFor()
    await page.goBack()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'a.txt', exact: true }).click()
    await dialog.getByText('the first').waitFor()
    await page.mouse.click(4, 4)
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
    await close()
  },
)

for (const look of [desktop, phone]) {
  inBrowser(`every tab of the details is accessible: ${look.viewport.width} px`, async b => {
    const { page, complaints, close } = await newPerson(b, look)
    await open(page, `?item=${second}`)
    const dialog = page.getByRole('dialog')
    for (const tab of ['Details', 'Access', 'Metadata', 'Activity']) {
      await dialog.getByRole('tab', { name: tab }).click()
      await dialog.locator('[role=tabpanel] > *').first().waitFor()
      await page.locator('.spinner').first().waitFor({ state: 'detached' })
      await requireAccessible(page)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      assert.ok(overflow <= 0, `${tab} is ${overflow} pixels too wide`)
    }
    assert.deepEqual(complaints, [])
    await close()
  })
}

inBrowser('the form of common metadata changes its statements only, and all of them are listed', async b => {
  const entry = await store(context, 'described.txt')
  const subject = `${service.base}${context}/resource/${entry}`
  const path = `${context}/metadata/${entry}`
  const before = {
    [`${DCT}publisher`]: [{ type: 'literal', value: 'The harbour', lang: 'en' }],
    [`${DCT}issued`]: [{ type: 'literal', value: '2026', datatype: 'http://www.w3.org/2001/XMLSchema#gYear' }],
    'http://example.org/depth': [{ type: 'literal', value: '12' }],
  }
  await admin.put(path, { [subject]: before })
  const { page, complaints, close } = await newPerson(b)
  await open(page, `?item=${entry}&tab=metadata`)
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('cell', { name: 'http://example.org/depth', exact: true }).waitFor()
  await dialog.getByLabel('Licence').fill('https://creativecommons.org/licenses/by/4.0/')
  await dialog.getByLabel('Date of publication').fill('2027')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('cell', { name: 'dcterms:license', exact: true }).waitFor()
  const after = (await admin.get(path)).json<Record<string, Record<string, unknown>>>()[subject]
  assert.deepEqual(after, {
    ...before,
    [`${DCT}issued`]: [{ type: 'literal', value: '2027', datatype: 'http://www.w3.org/2001/XMLSchema#gYear' }],
    [`${DCT}license`]: [{ type: 'uri', value: 'https://creativecommons.org/licenses/by/4.0/' }],
  })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('Markdown is drawn, and nothing in it acts or is fetched; CSV is a table', async b => {
  const text = [
    '# Salinity',
    '',
    'A **short** text, [a link](https://example.org/x), [a trap](javascript:alert(1)), a tag <b onclick="x()">bold</b> &amp; more.',
    '',
    '![a picture](https://example.org/track.png)',
    '',
    '<img src=x onerror="document.title=\'taken over\'">',
    '',
    '| station | depth |',
    '|---|---|',
    '| A | 1 |',
    '',
    `${'> '.repeat(500)}deep`,
  ].join('\n')
  const markdown = await store(context, 'README.md', text, 'text/markdown')
  const sheet = await store(context, 'data.csv', 'station;note\nA;"two\nlines"\nB;"a ""quote"""\n', 'text/csv')
  const { page, complaints, close } = await newPerson(b)
  const requests: string[] = []
  page.on('request', request => requests.push(request.url()))
  await open(page, `?item=${markdown}`)
  const drawn = page.locator('.markdown')
  await drawn.getByRole('heading', { name: 'Salinity' }).waitFor()
  assert.equal(await drawn.getByRole('link').count(), 1)
  assert.equal(await drawn.getByRole('link').getAttribute('rel'), 'noopener noreferrer nofollow')
  assert.equal(await drawn.locator('img, b, [onclick]').count(), 0)
  assert.match(await drawn.innerText(), /<b onclick="x\(\)">bold<\/b> & more/)
  await drawn.getByRole('cell', { name: 'A', exact: true }).waitFor()
  assert.notEqual(await page.title(), 'taken over')
  assert.deepEqual(
    requests.filter(url => !url.startsWith(service.base)),
    [],
  )
  await requireAccessible(page)
  await page.goto(`${service.base}ui/contexts/${context}/files?item=${sheet}`)
  await page.locator('.sheet').getByRole('cell', { name: 'a "quote"', exact: true }).waitFor()
  assert.deepEqual(await page.locator('.sheet th').allInnerTexts(), ['station', 'note'])
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'people are suggested by name and address, and found by them; a link is copied again and changed',
  async b => {
    const karin = await addUser(admin, 'karin@example.org')
    const FOAF = 'http://xmlns.com/foaf/0.1/'
    await admin.put(`_principals/metadata/${karin.id}`, {
      [`${service.base}_principals/resource/${karin.id}`]: {
        [`${FOAF}name`]: [{ type: 'literal', value: 'Karin Ström' }],
      },
    })
    const { page, complaints, close } = await newPerson(b, { refusals: [404] })
    await open(page, `?item=${second}&tab=access`)
    const dialog = page.getByRole('dialog').first()
    const field = dialog.getByLabel('User or group')
    await field.fill('strom')
    await dialog.locator(`datalist option[value="${karin.name}"][label="Karin Ström"]`).waitFor({ state: 'attached' })
    await field.fill('karin ström')
    await dialog.getByRole('button', { name: 'Grant access' }).click()
    await row(page, karin.name).filter({ hasText: 'shared directly' }).waitFor()

    await dialog.getByRole('button', { name: 'Create public link' }).click()
    const asked = page.getByRole('dialog', { name: 'Create public link' })
    await asked.getByLabel('Note').fill('For the review')
    await asked.getByRole('button', { name: 'Create public link' }).click()
    const shown = page.getByRole('dialog', { name: 'Public link' })
    const url = await shown.getByLabel('Public link').inputValue()
    await shown.locator('.stack').getByRole('button', { name: 'Close' }).click()
    await dialog.getByRole('button', { name: 'Copy link: For the review' }).click()
    assert.equal(await shown.getByLabel('Public link').inputValue(), url)
    await shown.locator('.stack').getByRole('button', { name: 'Close' }).click()
    await dialog.getByRole('button', { name: 'Change public link: For the review' }).click()
    const changing = page.getByRole('dialog', { name: 'Change public link' })
    await changing.getByLabel('Maximum number of downloads').selectOption('3')
    await requireAccessible(page)
    await changing.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('0 of 3').waitFor()
    await eventually('it is stored', async () => {
      const { items } = (await admin.get(`${context}/links/${second}`)).json<{
        items: Array<{ maxDownloads?: number }>
      }>()
      return items[0]?.maxDownloads === 3
    })
    await escape(page)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('the activity of a file tells its owner who uploaded and replaced it', async b => {
  const { page, complaints, close } = await newPerson(b)
  const file = await store(context, 'log.txt', 'first')
  const anna = service.visitor()
  await anna.signIn(name, GOOD_PASSWORD)
  const headers = { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="log.txt"' }
  const replaced = await anna.ask(`${context}/resource/${file}`, { method: 'PUT', body: 'second', headers })
  assert.equal(replaced.status, 201)
  await open(page, `?item=${file}&tab=activity`)
  const rows = page.getByRole('dialog').locator('.activity li')
  await rows.filter({ hasText: 'File replaced' }).filter({ hasText: name }).waitFor()
  await rows.filter({ hasText: 'File uploaded' }).waitFor()
  assert.equal(await rows.filter({ hasText: /^Changed/ }).count(), 0, 'the event says what has changed')
  assert.deepEqual(complaints, [])
  await close()
})
