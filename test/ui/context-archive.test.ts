import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveOf } from '../support/archives.ts'
import { fixtures } from '../support/entrystore.ts'
import { ADMIN_PASSWORD, newContext, startInProcess } from '../support/service.ts'
import { escape, newPerson, openBrowser, requireAccessible, signIn } from '../support/ui.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const inBrowser = await openBrowser()

inBrowser(
  'a context export of EntryStore is imported on the page of a context, which shows the report (D21.11)',
  async b => {
    const context = await newContext(admin)
    await admin.put(`_contexts/entry/${context}/name`, { name: 'Harbour' })
    await admin.post(`${context}?id=before`)
    const properties = 'contextEntryURI=http\\://localhost\\:8181/_contexts/entry/1\n'
    const zip = await archiveOf([
      { name: 'triples.rdf', bytes: readFileSync(join(fixtures, 'context-export-triples.rdf')), isDeflated: true },
      { name: 'export.properties', bytes: Buffer.from(properties), isDeflated: true },
      { name: 'resources/report_1', bytes: Buffer.from('hello world\n'), isDeflated: true },
      { name: 'resources/99', bytes: Buffer.from('of no entry'), isDeflated: true },
    ])
    const { page, complaints, close } = await newPerson(b, { refusals: [400] })
    await signIn(page, service.base, 'admin', ADMIN_PASSWORD)
    await page.goto(`${service.base}ui/admin/contexts/${context}`)
    const card = page.getByRole('region', { name: 'Archive', exact: true })
    const send = async (name: string, buffer: Buffer): Promise<void> => {
      await card.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/zip', buffer })
      const dialog = page.getByRole('dialog')
      assert.equal(await dialog.getByRole('button', { name: 'Import archive' }).isDisabled(), true)
      await dialog.getByLabel('Type Harbour to confirm').fill('Harbour')
      await dialog.getByRole('button', { name: 'Import archive' }).click()
    }
    await send('broken.zip', Buffer.from('no zip'))
    await page.getByRole('dialog').locator('.error').waitFor()
    await escape(page)
    assert.equal((await admin.get(`${context}/entry/before`)).status, 200)

    await send('export.zip', zip)
    await card.getByText('Imported: 12 entries, 1 file').waitFor()
    await card.getByText('file-orphan').click()
    await card.getByText('resources/99').waitFor()
    await requireAccessible(page)
    assert.equal((await admin.get(`${context}/resource/report_1`)).text, 'hello world\n')
    assert.equal((await admin.get(`${context}/entry/before`)).status, 404)
    assert.deepEqual(complaints, [])
    await close()
  },
)
