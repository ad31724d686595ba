import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { addNew, pick, row, startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import { enter, escape, newPerson, openBrowser } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, filesUrl, store, atFiles } = await startFilesService()

const TITLE = 'http://purl.org/dc/terms/title'
const DESCRIPTION = 'http://purl.org/dc/terms/description'
const KEYWORD = 'http://www.w3.org/ns/dcat#keyword'
const DATE = 'http://purl.org/dc/terms/date'
const text = (value: string, lang?: string) => ({ type: 'literal', value, ...(lang === undefined ? {} : { lang }) })

const rich = {
  [TITLE]: [text('The lake', 'en'), text('Sjön', 'sv')],
  [DESCRIPTION]: [text('A walk', 'en'), text('En promenad', 'sv')],
  [KEYWORD]: [text('water', 'en'), text('Stockholm, Sweden'), text('vatten', 'sv')],
  [DATE]: [{ type: 'literal', value: '2026-05-01', datatype: 'http://www.w3.org/2001/XMLSchema#date' }],
}

type Graph = Record<string, Record<string, ReadonlyArray<{ readonly value: string; readonly lang?: string }>>>

const graphOf = async (path: string): Promise<Graph> => (await admin.get(path)).json<Graph>()

inBrowser(
  'the details change only what the person changed: languages, datatypes and other statements stay',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    const entry = await store(context, 'lake.txt')
    const subject = `${service.base}${context}/resource/${entry}`
    const path = `${context}/metadata/${entry}`
    await admin.put(path, { [subject]: rich })
    const before = await graphOf(path)
    await page.goto(filesUrl(context))
    await row(page, 'lake.txt').waitFor()

    await pick(page, 'lake.txt', 'Details')
    assert.equal(await page.getByLabel('Title (English)').inputValue(), 'The lake')
    assert.equal(await page.getByLabel('Tags').inputValue(), 'water, Stockholm, Sweden, vatten')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForSelector('.toast:has-text("Saved.")')
    assert.deepEqual(await graphOf(path), before)

    await page.getByLabel('Title (English)').fill('The great lake')
    await page.getByLabel('Tags').fill('water, Stockholm, Sweden, boat')
    await page.getByRole('button', { name: 'Save' }).click()
    await eventually(
      'the title is stored',
      async () => (await graphOf(path))[subject]?.[TITLE]?.some(({ value }) => value === 'The great lake') === true,
    )
    const after = (await graphOf(path))[subject] ?? {}
    const sorted = (terms: readonly object[] = []): string[] => terms.map(term => JSON.stringify(term)).sort()
    assert.deepEqual(sorted(after[TITLE]), sorted([text('The great lake', 'en'), text('Sjön', 'sv')]))
    assert.deepEqual(sorted(after[KEYWORD]), sorted([text('water', 'en'), text('Stockholm, Sweden'), text('boat')]))
    assert.deepEqual(after[DESCRIPTION], before[subject]?.[DESCRIPTION])
    assert.deepEqual(after[DATE], before[subject]?.[DATE])
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('a folder keeps its title in other languages when it is renamed, and so does a profile', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const made = await admin.post(`${context}?graphtype=list`, {})
  const folder = made.json<{ entryId: string }>().entryId
  const subject = `${service.base}${context}/resource/${folder}`
  await admin.put(`${context}/metadata/${folder}`, { [subject]: rich })
  await page.goto(filesUrl(context))
  await row(page, 'The lake').waitFor()
  await pick(page, 'The lake', 'Rename')
  await page.getByRole('textbox', { name: 'Name' }).fill('The pond')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await row(page, 'The pond').waitFor()
  const titles = (await graphOf(`${context}/metadata/${folder}`))[subject]?.[TITLE] ?? []
  assert.deepEqual(titles.map(({ value, lang }) => `${value}@${lang}`).sort(), ['Sjön@sv', 'The pond@en'])

  const FOAF = 'http://xmlns.com/foaf/0.1/'
  const user = `${service.base}_principals/resource/${id}`
  const profile = { [`${FOAF}name`]: [text('Anna Ek', 'sv')], [`${FOAF}nick`]: [text('anna')] }
  await admin.put(`_principals/metadata/${id}`, { [user]: profile })
  const before = await graphOf(`_principals/metadata/${id}`)
  await page.goto(`${service.base}ui/account`)
  await page.getByRole('button', { name: 'Save profile' }).click()
  await page.waitForSelector('.toast:has-text("Saved.")')
  assert.deepEqual(await graphOf(`_principals/metadata/${id}`), before)
  await page.getByLabel('Full name').fill('Anna Ekström')
  await page.getByRole('button', { name: 'Save profile' }).click()
  await eventually(
    'it is stored',
    async () => (await graphOf(`_principals/metadata/${id}`))[user]?.[`${FOAF}name`]?.[0]?.value === 'Anna Ekström',
  )
  assert.equal((await graphOf(`_principals/metadata/${id}`))[user]?.[`${FOAF}name`]?.[0]?.lang, 'sv')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a person who saves second sees what the first saved, and chooses; other fields are merged', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [412] })
  const context = await atFiles(page)
  const entry = await store(context, 'note.txt')
  const subject = `${service.base}${context}/resource/${entry}`
  const path = `${context}/metadata/${entry}`
  await admin.put(path, { [subject]: { [TITLE]: [text('First')], [DESCRIPTION]: [text('Old')] } })
  await page.goto(filesUrl(context))
  await row(page, 'note.txt').waitFor()
  const dialog = page.getByRole('dialog')
  const open = async (): Promise<void> => {
    await pick(page, 'note.txt', 'Details')
    await page.getByLabel('Title', { exact: true }).waitFor()
  }
  /** Waits for the message, and closes all. */
  const saved = async (): Promise<void> => {
    await page.waitForSelector('.toast:has-text("Saved.")')
    await page.locator('.toast button').last().click()
    await page.locator('.toast').waitFor({ state: 'detached' })
    await escape(page)
  }
  const stored = async (): Promise<readonly unknown[]> => {
    const about = (await graphOf(path))[subject]
    return [about?.[TITLE]?.[0]?.value, about?.[DESCRIPTION]?.[0]?.value]
  }

  await open()
  await admin.put(path, { [subject]: { [TITLE]: [text('Theirs')], [DESCRIPTION]: [text('Old')] } })
  await page.getByLabel('Title', { exact: true }).fill('Mine')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Someone else has saved this since you opened it.').waitFor()
  await dialog.getByText('Theirs', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await saved()
  assert.deepEqual(await stored(), ['Mine', 'Old'])

  await open()
  await admin.put(path, { [subject]: { [TITLE]: [text('Theirs again')], [DESCRIPTION]: [text('Old')] } })
  await page.getByLabel('Title', { exact: true }).fill('Mine again')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('button', { name: 'Take theirs' }).click()
  assert.equal(await page.getByLabel('Title', { exact: true }).inputValue(), 'Theirs again')
  assert.deepEqual(await stored(), ['Theirs again', 'Old'])
  await escape(page)

  await open()
  await admin.put(path, { [subject]: { [TITLE]: [text('Another title')], [DESCRIPTION]: [text('Old')] } })
  await page.getByLabel('Description', { exact: true }).fill('New')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await saved()
  assert.deepEqual(await stored(), ['Another title', 'New'])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a name that is already in the folder is asked about once, and a slash is refused with a reason', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  await store(context, 'one.txt')
  await store(context, 'two.txt')
  await page.goto(filesUrl(context))
  await row(page, 'two.txt').waitFor()
  const dialog = page.getByRole('dialog')
  await pick(page, 'two.txt', 'Rename')
  await page.getByRole('textbox', { name: 'Name' }).fill('a/b.txt')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await dialog.getByText('A name cannot contain a slash').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('one.txt')
  await dialog.getByRole('button', { name: 'Rename' }).click()
  await dialog.getByText('There is already an item with the name one.txt').waitFor()
  assert.equal(await row(page, 'two.txt').count(), 1)
  await dialog.getByRole('button', { name: 'Use this name' }).click()
  await dialog.waitFor({ state: 'detached' })
  await eventually('it is stored', async () => (await row(page, 'one.txt').count()) === 2)

  const makeFolder = async (folder: string, action: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Name' }).fill(folder)
    await dialog.getByRole('button', { name: action }).click()
  }
  await addNew(page, 'New folder')
  await makeFolder('one.txt', 'Create folder')
  await dialog.getByText('There is already an item with the name one.txt').waitFor()
  await makeFolder('three', 'Create folder')
  await row(page, 'three').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'an owner cannot remove the last owner of a context, and is asked before giving up their own access',
  async b => {
    const ben = await addUser(admin, 'ben-owner@example.org')
    const context = await newContext(admin, [id])
    const { page, complaints, close } = await newPerson(b, { refusals: [403, 409] })
    await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/sharing`)
    const own = page.getByRole('row').filter({ hasText: name })
    await own.waitFor()
    await own.getByRole('button', { name: /^Remove/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Give up access' }).click()
    await page.waitForSelector('.toast:has-text("This is the last owner.")')

    await page.getByLabel('User or group').fill(ben.name)
    await page.getByLabel('Permission', { exact: true }).selectOption('owner')
    await page.getByRole('button', { name: 'Grant access' }).click()
    await page.getByRole('row').filter({ hasText: ben.name }).waitFor()
    await own.getByRole('button', { name: /^Remove/ }).click()
    await page.getByRole('dialog').getByText('Only another owner or an administrator can give it back').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Give up access' }).click()
    await page.waitForURL(`${service.base}ui/`)
    await page.waitForSelector('.toast:has-text("Access removed.")')
    assert.equal(await page.locator('.toast').getByRole('button', { name: 'Undo' }).count(), 0)
    assert.deepEqual(complaints, [])
    await close()
  },
)
