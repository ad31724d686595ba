import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startFilesService } from '../support/files-page.ts'
import { ADMIN_PASSWORD, newContext, repository } from '../support/service.ts'
import { desktop, newPerson, openBrowser } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, id, store } = await startFilesService()

const MAX_BYTES = 105_000

const context = await newContext(admin, [id])
for (let at = 0; at < 40; at++) await store(context, `record-${at}.txt`)
const made = await admin.post('_principals?graphtype=group', { resource: { name: 'sailors' } })
const group = made.json<{ entryId: string }>().entryId

/** The address of each page, as `ui/routes.tsx` has them. */
const paths = [...readFileSync(join(repository, 'ui/routes.tsx'), 'utf8').matchAll(/pattern: '([^']*)'/g)]
  .map(([, pattern = '']) => pattern)
  .filter(pattern => !pattern.includes(':folder') && pattern !== 'admin/quotas/:group')
  .map(pattern => pattern.replace(':context', context).replace(':user', id).replace(':group', group))

inBrowser('no page transfers more than 105 KB to a browser that has nothing of it yet', async b => {
  assert.ok(paths.length > 15, `${paths.length} pages`)
  for (const path of paths) {
    const { page, complaints, close } = await newPerson(b, desktop)
    const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
    await page.request.post(`${service.base}auth/cookie`, { form })
    await page.goto(`${service.base}ui/${path}`, { waitUntil: 'networkidle' })
    await page.locator('main h1').waitFor()
    await page.locator('.spinner').first().waitFor({ state: 'detached' })
    const bytes = await page.evaluate(() =>
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce(
        (sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize,
        0,
      ),
    )
    assert.ok(bytes > 10_000 && bytes <= MAX_BYTES, `ui/${path}: ${bytes} bytes`)
    assert.deepEqual(complaints, [])
    await close()
  }
})
