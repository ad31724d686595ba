import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { openTray, row, startFilesService } from '../support/files-page.ts'
import { newPerson, openBrowser } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, entriesOf, fileOf, store, atFiles } = await startFilesService()

const endedDialog = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' })

/** Types the password into the dialog and waits until it has closed. */
async function signInAgain(page: Page): Promise<void> {
  await endedDialog(page).getByLabel('Password').fill(GOOD_PASSWORD)
  await page.keyboard.press('Enter')
  await endedDialog(page).waitFor({ state: 'detached' })
}

const search = (page: Page, text: string): Promise<void> =>
  page.getByRole('searchbox', { name: 'Search all files' }).fill(text)

inBrowser(
  'when the session ends, nothing is lost: the user signs in on the page, and uploads and lists continue (D14.9)',
  async b => {
    const { page, complaints, close } = await newPerson(b, { refusals: [401] })
    const context = await atFiles(page)
    const refused: string[] = []
    page.on('response', response => {
      if (response.status() !== 401) return
      refused.push(response.request().headers()['x-requested-with'] ?? response.url())
    })
    await page.context().clearCookies()
    await page.setInputFiles('input[type=file]', await fileOf('kept.txt', 10))
    await endedDialog(page).waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('type')), 'password')
    await signInAgain(page)
    await openTray(page)
    await page.waitForSelector('text=Uploaded, 10 B')
    assert.equal((await entriesOf(context)).length, 1)
    // The service asks no script for HTTP Basic (D4.1).
    assert.deepEqual(new Set(refused), new Set(['XMLHttpRequest']))
    await row(page, 'kept.txt').waitFor()

    await page.context().clearCookies()
    await search(page, 'KEPT')
    await signInAgain(page)
    await page.waitForSelector('text=1 item')
    await row(page, 'kept.txt').waitFor()
    assert.equal(await page.getByText('Nothing found.').count(), 0, 'what guests find is not shown')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'a search result for a guest that arrives after the new sign-in is not shown as the files of the user (D14.14)',
  async b => {
    const { page, complaints, close } = await newPerson(b, { refusals: [401] })
    const context = await atFiles(page)
    await store(context, 'held.txt')
    await page.context().clearCookies()
    // The response to the guest is held back until the user has signed in again.
    let release: () => void = () => undefined
    const signedIn = new Promise<void>(resolve => (release = resolve))
    let held: () => void = () => undefined
    const isHeld = new Promise<void>(resolve => (held = resolve))
    await page.route(
      '**/search?*',
      async route => {
        const response = await route.fetch()
        held()
        await signedIn
        await route.fulfill({ response }).catch(() => undefined)
      },
      { times: 1 },
    )
    await search(page, 'held')
    await isHeld
    await page.setInputFiles('input[type=file]', await fileOf('other.txt', 10))
    await signInAgain(page)
    release()
    await row(page, 'held.txt').waitFor()
    await page.waitForSelector('text=1 item')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('a late response to an earlier search does not replace the result of the latest one', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  await store(context, 'first.txt')
  await store(context, 'second.txt')
  let release: () => void = () => undefined
  const answered = new Promise<void>(resolve => (release = resolve))
  const first = /\/search\?.*first/
  const asked = page.waitForRequest(first)
  await page.route(first, async route => {
    const response = await route.fetch()
    await answered
    await route.fulfill({ response }).catch(() => undefined)
  })
  await search(page, 'first')
  await asked
  await search(page, 'second')
  await row(page, 'second.txt').waitFor()
  release()
  await search(page, '')
  await page.waitForSelector('text=2 items')
  await search(page, 'second')
  await page.waitForSelector('text=1 item')
  await row(page, 'second.txt').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'a user who does not sign in again sees that they are signed out, not an empty list, and can try again',
  async b => {
    const { page, complaints, close } = await newPerson(b, { refusals: [401] })
    const context = await atFiles(page)
    await store(context, 'again.txt')
    await page.context().clearCookies()
    await search(page, 'again')
    await endedDialog(page).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForSelector('text=You are not signed in.')
    assert.equal(await page.getByText(/No files yet|Nothing found/).count(), 0)
    await page.getByRole('button', { name: 'Try again' }).click()
    await signInAgain(page)
    await row(page, 'again.txt').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('before an idle session ends, the page warns, and one click keeps the session', async b => {
  const { page, complaints, close } = await newPerson(b)
  await page.clock.install()
  // The clock of this service stands still, and Node's header has the true time.
  const date = new Date(service.system.now()).toUTCString()
  await page.route('**/auth/user', async route => {
    const response = await route.fetch()
    await route.fulfill({ response, headers: { ...response.headers(), date } })
  })
  await atFiles(page)
  const response = await page.request.get(`${service.base}auth/user`)
  const { authTokenExpires } = (await response.json()) as { authTokenExpires: string }
  const remaining = Date.parse(authTokenExpires) - service.system.now()
  await page.clock.fastForward(remaining - 90_000)
  await page.clock.runFor(20_000)
  const dialog = page.getByRole('dialog', { name: 'Your session ends soon' })
  await dialog.getByRole('button', { name: 'Stay signed in' }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})
