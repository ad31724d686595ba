import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { row, startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import {
  desktop,
  enter,
  newPerson,
  openBrowser,
  phone,
  requireAccessible,
  shiftOf,
  watchShifts,
} from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService()
const context = await newContext(admin, [id])

const DCT = 'http://purl.org/dc/terms/'
const TITLE = `${DCT}title`
const DESCRIPTION = `${DCT}description`

interface Term {
  readonly type: string
  readonly value: string
  readonly lang?: string
}
type Graph = Readonly<Record<string, Readonly<Record<string, readonly Term[]>>>>

const text = (value: string, lang?: string): Term => ({
  type: 'literal',
  value,
  ...(lang === undefined ? {} : { lang }),
})

async function newFile(file: string, about: Graph[string], others: Graph = {}) {
  const entry = await store(context, file)
  const subject = `${service.base}${context}/resource/${entry}`
  const path = `${context}/metadata/${entry}`
  assert.equal((await admin.put(path, { ...others, [subject]: about })).status, 204)
  /** The values of a property, with their languages. */
  const valuesOf = async (property: string): Promise<string[]> =>
    ((await admin.get(path)).json<Graph>()[subject]?.[property] ?? [])
      .map(({ value, lang }) => (lang === undefined ? value : `${value}@${lang}`))
      .sort()
  return { entry, subject, valuesOf }
}

const open = (page: Page, entry: string, who = name): Promise<void> =>
  enter(page, service.base, who, GOOD_PASSWORD, `ui/contexts/${context}/files?item=${entry}`)

inBrowser('a text in the language of the page is a further value; those in other languages stay (D14.21)', async b => {
  const { page, complaints, close } = await newPerson(b, { locale: 'sv-SE' })
  const { entry, valuesOf } = await newFile('square.png', { [TITLE]: [text('A small orange square', 'en')] })
  await open(page, entry)
  const field = (label: string) => page.getByLabel(label, { exact: true })
  assert.equal(await field('Titel (engelska)').inputValue(), 'A small orange square')
  assert.equal(await field('Titel (svenska)').inputValue(), '')
  await requireAccessible(page)
  await field('Titel (svenska)').fill('En liten orange kvadrat')
  await page.getByRole('button', { name: 'Spara' }).click()
  await eventually('the title is stored', async () => (await valuesOf(TITLE)).length === 2)
  assert.deepEqual(await valuesOf(TITLE), ['A small orange square@en', 'En liten orange kvadrat@sv'])

  await field('Titel (engelska)').fill('')
  await page.getByRole('button', { name: 'Spara' }).click()
  await eventually('the English title is removed', async () => (await valuesOf(TITLE)).length === 1)
  await field('Titel (engelska)').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a description in three languages: each keeps its own, and another language is added', async b => {
  const { page, complaints, close } = await newPerson(b, { ...phone, locale: 'de-DE' })
  const { entry, valuesOf } = await newFile('harbour.csv', {
    [DESCRIPTION]: [text('En hamn', 'sv'), text('A harbour', 'en'), text('Another one', 'en')],
  })
  await open(page, entry)
  const field = (label: string) => page.getByLabel(label, { exact: true })
  assert.equal(await field('Beschreibung (Deutsch)').inputValue(), '')
  assert.equal(await field('Beschreibung (Schwedisch)').inputValue(), 'En hamn')
  assert.equal(await field('Beschreibung (Englisch)').inputValue(), 'A harbour')
  await field('Beschreibung (Deutsch)').fill('Ein Hafen')
  await field('Beschreibung (Englisch) 2').fill('A second one')
  await page.getByRole('button', { name: 'Sprache hinzufügen: Beschreibung' }).click()
  const language = field('Beschreibung: Sprache')
  assert.ok(await language.evaluate(select => select === document.activeElement))
  await field('Beschreibung (Arabisch)').fill('ميناء')
  await language.selectOption({ label: 'Finnisch' })
  assert.equal(await field('Beschreibung (Finnisch)').inputValue(), 'ميناء')
  await field('Beschreibung (Finnisch)').fill('Satama')
  await requireAccessible(page)
  await page.getByRole('button', { name: 'Speichern' }).click()
  await eventually('they are stored', async () => (await valuesOf(DESCRIPTION)).length === 5)
  const expected = ['A harbour@en', 'A second one@en', 'Ein Hafen@de', 'En hamn@sv', 'Satama@fi']
  assert.deepEqual(await valuesOf(DESCRIPTION), expected)
  await field('Beschreibung: Sprache').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'a first text has no language; the name of an item is not that of another thing in its metadata (D14.21)',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const { entry, subject, valuesOf } = await newFile(
      'plain.txt',
      { 'http://www.w3.org/ns/dcat#distribution': [{ type: 'uri', value: 'http://example.org/csv' }] },
      { 'http://example.org/csv': { [TITLE]: [text('CSV', 'en')] } },
    )
    const dataset = (await admin.post(context, {})).json<{ entryId: string }>().entryId
    const about = `${service.base}${context}/resource/${dataset}`
    await admin.put(`${context}/metadata/${dataset}`, {
      'http://example.org/csv': { [TITLE]: [text('CSV', 'en')] },
      [about]: { [TITLE]: [text('Havsnivåer', 'sv'), text('Meeresspiegel', 'de')] },
    })
    await open(page, entry)
    const title = page.getByLabel('Title', { exact: true })
    assert.equal(await title.inputValue(), '')
    await title.fill('Plain')
    await page.getByRole('button', { name: 'Save' }).click()
    await eventually('it is stored', async () => (await valuesOf(TITLE)).length === 1)
    assert.deepEqual(await valuesOf(TITLE), ['Plain'], subject)
    await page.goto(`${service.base}ui/contexts/${context}/files`)
    await row(page, 'Havsnivåer').waitFor()
    assert.equal(await page.getByRole('link', { name: 'CSV', exact: true }).count(), 0)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('a folder is renamed in the language of its name, which the dialog says', async b => {
  const { page, complaints, close } = await newPerson(b, { locale: 'sv-SE' })
  const folder = (await admin.post(`${context}?graphtype=list`, {})).json<{ entryId: string }>().entryId
  const about = `${service.base}${context}/resource/${folder}`
  await admin.put(`${context}/metadata/${folder}`, { [about]: { [TITLE]: [text('Plans', 'en')] } })
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files`)
  await row(page, 'Plans').getByRole('link').focus()
  await page.keyboard.press('F2')
  await page.getByText('Den här texten är på engelska.').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('who may only read sees every text with its language', async b => {
  const ben = await addUser(admin, 'ben-details@example.org')
  const { entry } = await newFile('open.txt', {
    [TITLE]: [text('Öppen', 'sv'), text('Open', 'en')],
    [DESCRIPTION]: [text('For all', 'en'), text('För alla', 'sv')],
  })
  const { info } = (await admin.get(`${context}/entry/${entry}`)).json<{ info: Record<string, object> }>()
  const reader = {
    'http://entrystore.org/terms/read': [{ type: 'uri', value: `${service.base}_principals/resource/${ben.id}` }],
  }
  const [resource, metadata] = ['resource', 'metadata'].map(kind => `${service.base}${context}/${kind}/${entry}`)
  const shared = {
    ...info,
    [resource ?? '']: { ...info[resource ?? ''], ...reader },
    [metadata ?? '']: { ...info[metadata ?? ''], ...reader },
  }
  assert.equal((await admin.put(`${context}/entry/${entry}`, shared)).status, 204)
  const { page, complaints, close } = await newPerson(b, { refusals: [403] })
  await open(page, entry, ben.name)
  await page.getByRole('heading', { name: 'Open', exact: true }).waitFor()
  await page.getByText('For all').waitFor()
  await page.getByText('Title (Swedish)').waitFor()
  assert.equal(await page.getByText('Öppen').getAttribute('lang'), 'sv')
  await page.getByText('För alla').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

for (const [title, options] of [
  ['on a desktop', desktop],
  ['on a phone', phone],
] as const) {
  inBrowser(`the details, the first page and what is shared do not move while they load, ${title}`, async b => {
    const about = { [TITLE]: [text('One', 'en'), text('Ett', 'sv')] }
    const { entry } = await newFile(`still ${title}.txt`, about)
    const { page, complaints, close } = await newPerson(b, options)
    await watchShifts(page)
    // The code of the details comes after the rows of the list behind them.
    await page.route('**/about-items*.js', async route => {
      await page.getByRole('gridcell').first().waitFor()
      await route.continue()
    })
    const pages = {
      '': '.tile',
      shared: '.empty',
      'shared-by-me': '.card + .card',
      [`contexts/${context}/files?item=${entry}`]: '.facts',
    }
    await enter(page, service.base, name, GOOD_PASSWORD)
    for (const [path, last] of Object.entries(pages)) {
      await page.goto(`${service.base}ui/${path}`)
      await page.locator(last).first().waitFor()
      await page.waitForLoadState('networkidle')
      const shift = await shiftOf(page)
      assert.ok(shift < 0.02, `${path}: ${shift}`)
    }
    assert.deepEqual(complaints, [])
    await close()
  })
}
