import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import { enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService()
const context = await newContext(admin, [id])

const DCT = 'http://purl.org/dc/terms/'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const DEPTH = 'http://example.org/depth'

interface Term {
  readonly type: string
  readonly value: string
  readonly lang?: string
  readonly datatype?: string
}
type Graph = Readonly<Record<string, Readonly<Record<string, readonly Term[]>>>>

const text = (value: string, lang?: string): Term => ({
  type: 'literal',
  value,
  ...(lang === undefined ? {} : { lang }),
})
const typed = (value: string, datatype: string): Term => ({ type: 'literal', value, datatype: XSD + datatype })
const address = (value: string): Term => ({ type: 'uri', value })

/** The statements of a graph as lines, in an order of their own. */
const linesOf = (graph: Graph): string[] =>
  Object.entries(graph)
    .flatMap(([subject, about]) =>
      Object.entries(about).flatMap(([predicate, terms]) =>
        terms.map(({ type, value, lang = '', datatype = '' }) =>
          [subject, predicate, type, value, lang, datatype].join(' '),
        ),
      ),
    )
    .sort()

async function newFile(file: string, about: Graph[string] = {}, others: Graph = {}) {
  const entry = await store(context, file)
  const subject = `${service.base}${context}/resource/${entry}`
  const path = `${context}/metadata/${entry}`
  const put = async (graph: Graph): Promise<void> => assert.equal((await admin.put(path, graph)).status, 204)
  const read = async (): Promise<Graph> => (await admin.get(path)).json<Graph>()
  if (Object.keys(about).length > 0) await put({ ...others, [subject]: about })
  return { entry, subject, put, read }
}

const open = async (page: Page, entry: string, who = name): Promise<void> => {
  await enter(page, service.base, who, GOOD_PASSWORD, `ui/contexts/${context}/files?item=${entry}&tab=metadata`)
  await page.getByRole('table', { name: 'Metadata' }).or(page.getByText('No statements.')).waitFor()
}

const fields = {
  creator: 'Creator',
  publisher: 'Publisher',
  issued: 'Date of publication',
  language: 'Language',
  license: 'Licence',
  rights: 'Rights',
  source: 'Source',
  identifier: 'Identifier',
  spatial: 'Place',
} as const

inBrowser('each field of the form changes one value: other languages, values, types and things stay', async b => {
  const names = Object.keys(fields) as ReadonlyArray<keyof typeof fields>
  const about = {
    ...Object.fromEntries(
      names.map(name => [DCT + name, [text(`${name} på svenska`, 'sv'), text(`${name} in English`, 'en'), text(name)]]),
    ),
    [`${DCT}issued`]: [typed('2026', 'gYear'), text('last summer', 'en')],
    [`${DCT}source`]: [typed('https://example.org/old', 'anyURI'), address('https://example.org/second')],
    [`${DCT}publisher`]: [{ type: 'bnode', value: '_:b0' }],
    [DEPTH]: [typed('12', 'integer')],
  }
  const { entry, subject, read } = await newFile('described.txt', about, {
    'http://example.org/harbour': { [`${DCT}identifier`]: [text('the harbour has one too', 'en')] },
  })
  const before = await read()
  const { page, complaints, close } = await newPerson(b)
  await open(page, entry)
  const form = page.locator('[role=tabpanel] form')
  const shown = (label: string): Promise<string> => form.getByLabel(label, { exact: true }).inputValue()
  assert.equal(await shown('Creator'), 'creator in English')
  assert.equal(await shown('Identifier'), 'identifier in English')
  assert.equal(await shown('Publisher'), '')
  await form.getByText('English · 2 more values in the table').first().waitFor()

  await form.getByRole('button', { name: 'Save' }).click()
  await page.waitForSelector('.toast:has-text("Saved.")')
  assert.deepEqual(linesOf(await read()), linesOf(before))

  const typedTexts: Readonly<Record<string, string>> = { source: 'https://example.org/new', issued: '2027-05-01' }
  for (const [field, label] of Object.entries(fields))
    await form.getByLabel(label, { exact: true }).fill(typedTexts[field] ?? `new ${field}`)
  await form.getByLabel('Web page').fill('https://example.org/data')
  await form.getByRole('button', { name: 'Save' }).click()
  await eventually('it is stored', async () => linesOf(await read()).length === linesOf(before).length + 2)
  const after = await read()
  const changed = new Set(linesOf(before).filter(line => !linesOf(after).includes(line)))
  const added = linesOf(after).filter(line => !linesOf(before).includes(line))
  const lineOf = (property: string, { type, value, lang = '', datatype = '' }: Term): string =>
    [subject, property, type, value, lang, datatype].join(' ')
  const english = names.filter(name => !['issued', 'source', 'publisher'].includes(name))
  assert.deepEqual(
    [...changed].sort(),
    [
      ...english.map(name => lineOf(DCT + name, text(`${name} in English`, 'en'))),
      lineOf(`${DCT}issued`, text('last summer', 'en')),
      lineOf(`${DCT}source`, typed('https://example.org/old', 'anyURI')),
    ].sort(),
  )
  assert.deepEqual(
    added,
    [
      ...english.map(name => lineOf(DCT + name, text(`new ${name}`, 'en'))),
      lineOf(`${DCT}issued`, text('2027-05-01', 'en')),
      lineOf(`${DCT}source`, typed('https://example.org/new', 'anyURI')),
      lineOf(`${DCT}publisher`, text('new publisher')),
      lineOf('http://www.w3.org/ns/dcat#landingPage', address('https://example.org/data')),
    ].sort(),
  )
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the form offers common licences and languages; a licence is stored as its address', async b => {
  const { entry, subject, read } = await newFile('licensed.txt')
  const { page, complaints, close } = await newPerson(b)
  await open(page, entry)
  const field = page.getByLabel('Licence', { exact: true })
  const offered = (label: string): Promise<string[]> =>
    page
      .getByLabel(label, { exact: true })
      .evaluate(input => [...((input as HTMLInputElement).list?.options ?? [])].map(({ value }) => value))
  const [licence = ''] = (await offered('Licence')).filter(value => value.includes('/by/'))
  assert.ok((await offered('Language')).includes('sv'))
  await field.fill(licence)
  await page.getByRole('tabpanel').getByRole('button', { name: 'Save' }).click()
  await page.waitForSelector('.toast:has-text("Saved.")')
  assert.deepEqual((await read())[subject]?.[`${DCT}license`], [address(licence)])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a value in my language is a further one beside those of other languages (D14.21)', async b => {
  const { entry, subject, read } = await newFile('maker.txt', { [`${DCT}creator`]: [text('The harbour', 'en')] })
  const { page, complaints, close } = await newPerson(b, { locale: 'sv-SE' })
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files?item=${entry}&tab=metadata`)
  const field = page.getByLabel('Upphovsperson', { exact: true })
  assert.equal(await field.inputValue(), '')
  await page.getByText('1 värde till i tabellen').waitFor()
  await field.fill('Hamnen')
  await page.getByRole('button', { name: 'Spara' }).click()
  await page.waitForSelector('.toast:has-text("Sparat.")')
  assert.deepEqual((await read())[subject]?.[`${DCT}creator`], [text('The harbour', 'en'), text('Hamnen', 'sv')])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a statement is added, changed, removed and put back; a wrong one is refused at its field', async b => {
  const { entry, subject, read } = await newFile('edited.txt', {
    [DEPTH]: [typed('12', 'integer'), text('twelve', 'en')],
  })
  const { page, complaints, close } = await newPerson(b)
  await open(page, entry)
  const dialog = page.getByRole('dialog', { name: 'statement' })
  const field = (label: string) => dialog.getByLabel(label, { exact: true })
  const save = () => dialog.getByRole('button', { name: 'Save' }).click()
  const about = async () => (await read())[subject]

  await page.getByRole('button', { name: 'Add statement' }).click()
  await field('Property').fill('no such thing')
  await field('Value').fill('x')
  await save()
  await dialog.locator('.error').filter({ hasText: 'dcterms:title' }).waitFor()
  assert.equal(await field('Property').getAttribute('aria-invalid'), 'true')
  await requireAccessible(page)
  await field('Property').fill('dcterms:title')
  await field('Language').fill('not a tag')
  await save()
  await dialog.locator('.error').filter({ hasText: 'Enter a language tag' }).waitFor()
  await field('Language').fill('sv')
  await field('Value').fill('Djupet')
  await save()
  await page.getByRole('cell', { name: 'Djupet', exact: true }).waitFor()
  assert.deepEqual((await about())?.[`${DCT}title`], [text('Djupet', 'sv')])

  await page.getByRole('button', { name: `Change statement: ${DEPTH}, 12` }).click()
  await field('Value').fill('13')
  await save()
  await page.getByRole('cell', { name: '13', exact: true }).waitFor()
  await page.getByRole('button', { name: `Change statement: ${DEPTH}, twelve` }).click()
  await field('Kind of value').selectOption('uri')
  await field('Value').fill('no address')
  await save()
  await dialog.locator('.error').filter({ hasText: 'Enter a whole address' }).waitFor()
  await field('Value').fill('https://example.org/twelve')
  await save()
  await page.getByRole('cell', { name: 'https://example.org/twelve', exact: true }).waitFor()
  const kept = (await about())?.[DEPTH] ?? []
  assert.deepEqual(
    [...kept].sort((one, other) => one.value.localeCompare(other.value)),
    [typed('13', 'integer'), address('https://example.org/twelve')],
  )

  await page.getByRole('button', { name: `Change statement: ${DEPTH}, 13` }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('cell', { name: '13', exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual((await about())?.[DEPTH], [address('https://example.org/twelve')])
  await page.locator('.toast').filter({ hasText: 'Statement removed.' }).getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('cell', { name: '13', exact: true }).waitFor()
  assert.equal((await about())?.[DEPTH]?.length, 2)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'a statement that somebody else changed meanwhile is shown, and the person chooses; others are kept',
  async b => {
    const { entry, subject, put, read } = await newFile('shared.txt', { [DEPTH]: [text('mine to change')] })
    const { page, complaints, close } = await newPerson(b, { refusals: [412] })
    await open(page, entry)
    const dialog = page.getByRole('dialog', { name: 'Change statement' })
    const edit = async (value: string, mine: string, theirs: Graph[string]): Promise<void> => {
      await page.getByRole('button', { name: `Change statement: ${DEPTH}, ${value}` }).click()
      await dialog.getByLabel('Value', { exact: true }).fill(mine)
      await put({ [subject]: theirs })
      await dialog.getByRole('button', { name: 'Save' }).click()
    }
    const title = { [`${DCT}title`]: [text('added meanwhile', 'en')] }
    await edit('mine to change', 'mine', { ...title, [DEPTH]: [text('theirs')] })
    await dialog.getByText('theirs', { exact: true }).waitFor()
    await requireAccessible(page)
    await dialog.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('cell', { name: 'mine', exact: true }).waitFor()
    assert.deepEqual((await read())[subject], { ...title, [DEPTH]: [text('mine')] })

    await edit('mine', 'mine again', { ...title, [DEPTH]: [text('theirs again')] })
    await dialog.getByRole('button', { name: 'Take theirs' }).click()
    assert.equal(await dialog.getByLabel('Value', { exact: true }).inputValue(), 'theirs again')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: 'theirs again', exact: true }).waitFor()

    await edit('theirs again', 'alone', { [DEPTH]: [text('theirs again'), text('a second one')] })
    await page.getByRole('cell', { name: 'alone', exact: true }).waitFor()
    assert.deepEqual(linesOf(await read()), linesOf({ [subject]: { [DEPTH]: [text('alone'), text('a second one')] } }))
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('readers see all statements and change none; on a phone the table fits', async b => {
  const { entry } = await newFile('read.txt', { [DEPTH]: [text('twelve fathoms')] })
  const reader = await addUser(admin, 'reader@example.org')
  const owner = [{ type: 'uri', value: `${service.base}_principals/resource/${id}` }]
  await admin.put(`_contexts/entry/${context}`, {
    [service.base + context]: {
      'http://entrystore.org/terms/write': owner,
      'http://entrystore.org/terms/read': [{ type: 'uri', value: `${service.base}_principals/resource/${reader.id}` }],
    },
    [`${service.base}_contexts/entry/${context}`]: { 'http://entrystore.org/terms/write': owner },
  })
  const { page, complaints, close } = await newPerson(b, phone)
  await open(page, entry, reader.name)
  await page.getByRole('cell', { name: 'twelve fathoms', exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: /statement/ }).count(), 0)
  assert.deepEqual(complaints, [])
  await close()
  const another = await newPerson(b, phone)
  await open(another.page, entry)
  await another.page.getByRole('button', { name: /^Change statement/ }).click()
  await another.page.getByRole('dialog', { name: 'Change statement' }).getByLabel('Value', { exact: true }).waitFor()
  await requireAccessible(another.page)
  const overflow = await another.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  assert.ok(overflow <= 0, `${overflow} pixels too wide`)
  assert.deepEqual(another.complaints, [])
  await another.close()
})
