import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { after } from '../support/after.ts'
import { ADMIN_PASSWORD, startInProcess } from '../support/service.ts'
import { desktop, enter, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'

const service = await startInProcess({ after })
const inBrowser = await openBrowser()

const openChecks = (page: Page): Promise<void> => enter(page, service.base, 'admin', ADMIN_PASSWORD, 'ui/admin/checks')

const row = (page: Page, text: string | RegExp) => page.locator('tbody tr').filter({ hasText: text })

for (const [locale, base, disk] of [
  ['en-GB', 'base address: ', /disk of the data folder: .* of .* free/],
  ['de-DE', 'Basisadresse: ', /Datenträger des Datenordners: .* von .* frei/],
  ['sv-SE', 'Basadress: ', /Datamappens disk: .* av .* ledigt/],
] as const) {
  for (const [window, name] of [
    [desktop, 'desktop'],
    [phone, 'phone'],
  ] as const) {
    inBrowser(`all findings of a new service are in the language of the reader: ${locale}, on a ${name}`, async b => {
      const { page, complaints, close } = await newPerson(b, { locale, ...window })
      await openChecks(page)
      await row(page, base).waitFor()
      await row(page, disk).waitFor()
      if (locale !== 'en-GB') assert.deepEqual(await page.locator('tbody [lang=en]').allInnerTexts(), [])
      await requireAccessible(page)
      assert.deepEqual(complaints, [])
      await close()
    })
  }
}

inBrowser(
  'sizes, times and numbers are those of the language; texts of other programs, and unknown findings, stay in English',
  async b => {
    const { page, complaints, close } = await newPerson(b, { locale: 'de-DE', timezoneId: 'Europe/Berlin' })
    const findings = [
      { level: 'warning', code: 'disk-low', text: '', values: { free: 1.5 * 2 ** 30, size: 252 * 2 ** 30 } },
      { level: 'ok', code: 'backup-made', text: '', values: { made: '2026-07-01T10:00:05.000Z', files: 1000 } },
      { level: 'problem', code: 'redis-unusable', text: 'Redis: refused {host}', values: { reason: 'refused {host}' } },
      {
        level: 'problem',
        code: 'of-a-later-version',
        text: 'Something is new since 2026-07-01T10:00:05.000Z.',
        values: { since: '2026-07-01T10:00:05.000Z' },
      },
    ]
    await page.route('**/management/findings', route => route.fulfill({ json: { findings } }))
    await openChecks(page)
    await row(page, 'nur 1,5 GiB von 252 GiB frei').waitFor()
    await row(page, 'Die letzte ist vom 01.07.2026, 12:00:05, mit 1.000 Dateien.').waitFor()
    await row(page, 'Redis kann nicht verwendet werden. Meldung: refused {host}').waitFor()
    assert.deepEqual(await page.locator('tbody [lang=en]').allInnerTexts(), [
      'refused {host}',
      'Something is new since 01.07.2026, 12:00:05.',
    ])
    assert.deepEqual(complaints, [])
    await close()
  },
)
