import assert from 'node:assert/strict'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import { enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService({ 'service.repository.provenance': 'on' })
const context = await newContext(admin, [id])

const DCT = 'http://purl.org/dc/terms/'

type Graph = Readonly<Record<string, Readonly<Record<string, ReadonlyArray<{ readonly value: string }>>>>>

/** An entry whose metadata have had two titles, and then a description. */
async function newFile(file: string) {
  const entry = await store(context, file)
  const subject = `${service.base}${context}/resource/${entry}`
  const path = `${context}/metadata/${entry}`
  const text = (value: string, lang?: string) => [{ type: 'literal', value, ...(lang === undefined ? {} : { lang }) }]
  const states = [
    { [`${DCT}title`]: text('Lake', 'en') },
    { [`${DCT}title`]: text('Great lake', 'en') },
    { [`${DCT}title`]: text('Great lake', 'en'), [`${DCT}description`]: text('Cold') },
  ]
  for (const about of states) assert.equal((await admin.put(path, { [subject]: about })).status, 204)
  const read = async (): Promise<readonly unknown[]> => {
    const about = (await admin.get(path)).json<Graph>()[subject]
    return ['title', 'description'].map(property => about?.[DCT + property]?.[0]?.value)
  }
  return { entry, read }
}

for (const [title, options] of [
  ['on a desktop', {}],
  ['on a phone', phone],
] as const) {
  inBrowser(
    `versions of metadata are seen, compared and restored, and the restoration is undone, ${title} (D14.22)`,
    async b => {
      const { entry, read } = await newFile(`lake ${title}.txt`)
      const { page, complaints, close } = await newPerson(b, options)
      await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files?item=${entry}`)
      await page.getByRole('tab', { name: 'Versions' }).click()
      const version = (number: number) => page.getByRole('listitem').filter({ hasText: `Version ${number}` })
      await version(3).getByText('current').waitFor()
      assert.equal(await page.getByRole('button', { name: 'Restore: Version 3' }).count(), 0)

      await page.getByRole('button', { name: 'Show changes: Version 2' }).click()
      const change = version(2).getByRole('row').filter({ hasText: 'Title (English)' })
      await change.waitFor()
      assert.deepEqual(await change.getByRole('cell').allInnerTexts(), ['Title (English)', 'Lake', 'Great lake'])
      await requireAccessible(page)
      await version(2).getByLabel('Compare').selectOption({ label: 'with the current version' })
      await version(2).getByRole('row').filter({ hasText: 'Cold' }).waitFor()
      assert.equal(await change.count(), 0)

      await page.getByRole('button', { name: 'Restore: Version 1' }).click()
      await eventually('the first title is back', async () => (await read())[0] === 'Lake')
      assert.deepEqual(await read(), ['Lake', undefined])
      await version(4).getByText('current').waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await eventually('it is as before', async () => (await read())[1] === 'Cold')
      assert.deepEqual(await read(), ['Great lake', 'Cold'])
      assert.deepEqual(complaints, [])
      await close()
    },
  )
}
