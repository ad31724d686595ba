import assert from 'node:assert/strict'
import { after } from '../support/after.ts'
import { ADMIN_PASSWORD, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'
import { enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

const inBrowser = await openBrowser()
const target = await temporaryFolder()
const service = await startInProcess(
  { after },
  { settings: { 'service.backup.schedule': '0 3 * * *', 'service.backup.target': target } },
)
const admin = await service.admin()

inBrowser('the backups have a page: the last one, its proof, the next one, sizes and generations', async b => {
  await eventually('the first backup is proven', async () => {
    const { runs } = (await admin.get('management/backups')).json<{ runs: ReadonlyArray<{ proven?: string }> }>()
    return runs[0]?.proven !== undefined
  })
  for (const window of [{}, phone]) {
    const { page, complaints, close } = await newPerson(b, window)
    await enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/backups')
    await page.getByText('Backups are made, and the last one checked is good.').waitFor()
    const plan = page.getByRole('region', { name: 'Plan' })
    await plan.getByText('0 3 * * *').waitFor()
    await plan.getByText('Last good backup').waitFor()
    const [lastBackup = '', lastGood] = await plan.locator('dd').allTextContents()
    assert.ok(
      lastGood !== undefined && lastGood !== '' && lastBackup.startsWith(lastGood),
      `${lastGood}, ${lastBackup}`,
    )
    await plan.getByText(target).waitFor()
    await page.getByRole('region', { name: 'Backups in this place' }).getByText('signed').first().waitFor()
    const runs = page.getByRole('region', { name: 'Last attempts' })
    assert.equal(await runs.locator('tbody tr').count(), 1)
    await requireAccessible(page)
    assert.deepEqual(complaints, [])
    await close()
  }
})

inBrowser('without a schedule the page says which settings switch backups on', async b => {
  const other = await startInProcess({ after }, {})
  const { page, complaints, close } = await newPerson(b)
  await enter(page, other.base, 'admin', ADMIN_PASSWORD, 'ui/admin/backups')
  await page.getByText('The service makes no backups by itself.').waitFor()
  await page.getByText('service.backup.schedule').waitFor()
  await requireAccessible(page)
  assert.deepEqual(complaints, [])
  await close()
})
