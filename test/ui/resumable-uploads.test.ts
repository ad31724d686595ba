import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type * as tusClient from 'tus-js-client'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { limitUploads, MEGA, openTray, SLOW, startFilesService, UNLIMITED } from '../support/files-page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ADMIN_PASSWORD, newEntry, repository } from '../support/service.ts'
import { enter, newPerson, openBrowser } from '../support/ui.ts'
import { until } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, name, levelOf, entriesOf, atFiles } = await startFilesService()
const folder = await temporaryFolder()
const anna = service.visitor()
await anna.signIn(name, GOOD_PASSWORD)

const SIZE = 20 * MEGA
const PIECE = 8 * MEGA

async function randomFile(file: string): Promise<{ readonly path: string; readonly bytes: Buffer }> {
  const bytes = randomBytes(SIZE)
  const path = join(folder, file)
  await writeFile(path, bytes)
  return { path, bytes }
}

const receivedOf = async (file: string): Promise<number> => {
  const { items } = (await anna.get('auth/uploads')).json<{
    items: ReadonlyArray<{ fileName: string; received: number }>
  }>()
  return items.find(({ fileName }) => fileName === file)?.received ?? 0
}

/** Begins an upload and waits until the service has the first piece. The others take long. */
async function beginSlowly(page: Page, file: string, path: string) {
  const limit = await limitUploads(page, 4 * MEGA)
  await page.setInputFiles('input[type=file]', path)
  await openTray(page)
  await until(
    () => receivedOf(file),
    received => received >= PIECE,
  )
  await limit(SLOW)
  return limit
}

/** The offsets of the pieces that the page sends from now on. */
function offsetsOf(page: Page): number[] {
  const offsets: number[] = []
  page.on('request', request => {
    if (request.method() === 'PATCH') offsets.push(Number(request.headers()['upload-offset']))
  })
  return offsets
}

async function assertStored(context: string, bytes: Buffer): Promise<void> {
  const [entry = ''] = await entriesOf(context)
  assert.ok((await admin.get(`${context}/resource/${entry}`)).bytes.equals(bytes), 'the file is stored unchanged')
}

/** Leaves the page in the middle of an upload and comes back. */
async function leaveAndReturn(page: Page, limit: (bytes: number) => Promise<void>): Promise<void> {
  page.on('dialog', dialog => void dialog.accept())
  await page.reload()
  await limit(UNLIMITED)
  await page.locator('.upload-rows').getByText('Unfinished: ').waitFor()
}

inBrowser('an upload whose connection breaks goes on by itself, without what the service has (D42.2)', async b => {
  const { page, close } = await newPerson(b)
  const context = await atFiles(page)
  const { path, bytes } = await randomFile('broken.bin')
  const limit = await beginSlowly(page, 'broken.bin', path)
  await limit(UNLIMITED, true)
  await page.waitForSelector('text=The connection is broken.')
  const offsets = offsetsOf(page)
  await limit(UNLIMITED)
  await page.waitForSelector('text=Uploaded, 20 MiB')
  assert.ok((offsets[0] ?? 0) >= PIECE, `goes on after the first piece: ${offsets.join(' ')}`)
  await assertStored(context, bytes)
  assert.equal(await levelOf(context), SIZE)
  await close()
})

inBrowser('a paused upload sends nothing, and goes on where it stopped (D42.2)', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const { path, bytes } = await randomFile('paused.bin')
  const limit = await beginSlowly(page, 'paused.bin', path)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.waitForSelector('text=Paused.')
  await page.locator('.upload').filter({ hasText: 'Waiting' }).waitFor()
  const offsets = offsetsOf(page)
  await limit(UNLIMITED)
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.waitForSelector('text=Uploaded, 20 MiB')
  assert.ok((offsets[0] ?? 0) >= PIECE, `goes on after the first piece: ${offsets.join(' ')}`)
  await assertStored(context, bytes)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('after a reload the upload is listed, and goes on with the same file only (D42.2)', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const { path, bytes } = await randomFile('again.bin')
  await leaveAndReturn(page, await beginSlowly(page, 'again.bin', path))
  const offsets = offsetsOf(page)
  const picker = page.locator('input[aria-label="Continue: again.bin"]')
  await picker.setInputFiles((await randomFile('other.bin')).path)
  await page.waitForSelector('text=This is another file. Pick again.bin, 20 MiB')
  assert.deepEqual(offsets, [])
  await picker.setInputFiles(path)
  await openTray(page)
  await page.waitForSelector('text=Uploaded, 20 MiB')
  assert.ok((offsets[0] ?? 0) >= PIECE, `goes on after the first piece: ${offsets.join(' ')}`)
  await assertStored(context, bytes)
  await page.getByText('Unfinished: ').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('an unfinished upload is discarded, with its space and the entry that waits for it (D42.2)', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const { path } = await randomFile('left.bin')
  await leaveAndReturn(page, await beginSlowly(page, 'left.bin', path))
  await page.getByRole('button', { name: 'Discard left.bin' }).click()
  await page.locator('.upload-rows').waitFor({ state: 'detached' })
  const { items } = (await anna.get('auth/uploads')).json<{ items: readonly unknown[] }>()
  assert.deepEqual([items, await entriesOf(context), await levelOf(context)], [[], [], 0])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('only the uploader sees an unfinished upload, as a row with its progress in its folder', async b => {
  const { page, close } = await newPerson(b)
  const context = await atFiles(page)
  const { path } = await randomFile('mine.bin')
  await leaveAndReturn(page, await beginSlowly(page, 'mine.bin', path))
  const row = page.getByRole('list', { name: 'Unfinished uploads' }).getByRole('listitem')
  await row.filter({ hasText: 'mine.bin' }).getByRole('progressbar').waitFor()
  assert.equal(await page.locator('.tray').count(), 0)
  assert.equal(await page.locator('.files tbody tr').count(), 0)
  const other = await newPerson(b)
  await enter(other.page, service.base, 'admin', ADMIN_PASSWORD, `ui/contexts/${context}/files`)
  await other.page.locator('.empty').waitFor()
  assert.equal(await other.page.getByText('mine.bin').count(), 0)
  // With its address, it says why there is nothing.
  const [entry = ''] = await entriesOf(context)
  await other.page.goto(`${service.base}ui/contexts/${context}/files?item=${entry}`)
  await other.page.getByText('There is no file yet').waitFor()
  await other.close()
  await page.getByRole('button', { name: 'Discard mine.bin' }).click()
  await page.locator('.upload-rows').waitFor({ state: 'detached' })
  await close()
})

inBrowser('names of files whose uploads are unfinished leave the browser with the session', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [401] })
  const stored = (): Promise<string | null> => page.evaluate(() => localStorage.getItem('uploads'))
  const signOuts = [
    (): Promise<void> => page.locator('.who').getByRole('button', { name: 'Sign out' }).click(),
    async (): Promise<void> => {
      await page.goto(`${service.base}ui/account`)
      await page.locator('main').getByRole('button', { name: 'Sign out', exact: true }).click()
    },
  ]
  for (const signOut of signOuts) {
    await atFiles(page)
    const name = 'secret plan.bin'
    await page.evaluate(
      name => localStorage.setItem('uploads', JSON.stringify([{ uri: 'x', name, lastModified: 1 }])),
      name,
    )
    await signOut()
    await page.waitForURL(/auth\/log/)
    assert.equal(await stored(), null)
  }
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'the published client for tus works in a page as it is, in pieces and with several connections (D42.1, D42.3)',
  async b => {
    const { page, close } = await newPerson(b)
    const context = await atFiles(page)
    await page.evaluate(await readFile(join(repository, 'node_modules/tus-js-client/dist/tus.min.js'), 'utf8'))
    for (const parallelUploads of [1, 3]) {
      const entry = await newEntry(admin, context)
      await page.evaluate(
        ({ endpoint, parallelUploads }) =>
          new Promise<void>((resolve, reject) => {
            const { tus } = globalThis as unknown as { tus: typeof tusClient }
            const file = new File(['x'.repeat(1_000_000)], 'x.txt', { type: 'text/plain' })
            const options = { endpoint, parallelUploads, chunkSize: 300_000, retryDelays: null }
            new tus.Upload(file, { ...options, onError: reject, onSuccess: () => resolve() }).start()
          }),
        { endpoint: `${service.base}${context}/uploads/${entry}`, parallelUploads },
      )
      assert.equal((await admin.get(`${context}/resource/${entry}`)).text, 'x'.repeat(1_000_000))
    }
    await close()
  },
)
