import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { newContext, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { newPerson, openBrowser, signIn } from '../support/ui.ts'
import { until } from '../support/waiting.ts'

const MEGA = 1_048_576
const settings = { 'service.data.quota': 'on', 'service.data.max-file-size': '60m' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
const inBrowser = await openBrowser()
const folder = await temporaryFolder({ after })

/** A file on this machine's disk: browsers are not handed large ones otherwise. */
async function fileOf(name: string, size: number): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, Buffer.alloc(size, 'x'))
  return path
}

const { id, name } = await addUser(admin, 'anna@example.org')

/** A context of Anna's, and Anna on the page of its files. */
async function atFiles(page: Page, quota = -1): Promise<string> {
  const context = await newContext(admin, [id])
  await admin.put(`${context}/quota`, { quota })
  await signIn(page, service.base, name, GOOD_PASSWORD)
  await page.goto(`${service.base}ui/contexts/${context}/files`)
  await page.waitForSelector('.zone')
  return context
}

const levelOf = async (context: string): Promise<unknown> => (await admin.get(`${context}/quota`)).json()['fillLevel']
const entriesOf = async (context: string): Promise<readonly string[]> => (await admin.get(context)).json<string[]>()

inBrowser(
  '50 MB go up with progress, are listed with name, size and type, come down again and are deleted',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page, 100 * MEGA)
    const seen: number[] = []
    await page.exposeFunction('noteLevel', (level: string) => seen.push(Number(level)))
    await page.evaluate(() => {
      const note = (window as unknown as { noteLevel: (level: string) => void }).noteLevel
      new MutationObserver(() => {
        const bar = document.querySelector('[role=progressbar]')
        if (bar) note(bar.getAttribute('aria-valuenow') ?? '')
      }).observe(document.body, { subtree: true, childList: true, attributes: true })
    })
    await page.setInputFiles('input[type=file]', await fileOf('film.mp4', 50 * MEGA))
    await page.waitForSelector('text=Uploaded, 50 MiB')
    assert.ok(
      seen.some(level => level > 0 && level < 100),
      `the bar moves: ${seen.join(' ')}`,
    )
    assert.deepEqual(
      [...seen].sort((a, b) => a - b),
      seen,
      'and never back',
    )
    const row = page.locator('tbody tr')
    await row.waitFor()
    assert.match(await row.innerText(), /film\.mp4\s+video\/mp4\s+50 MiB/)
    await page.waitForSelector('text=50 MiB of 100 MiB used, 50 MiB free')
    assert.equal(await levelOf(context), 50 * MEGA)

    const coming = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download film' }).click()
    const download = await coming
    assert.equal(download.suggestedFilename(), 'film.mp4')
    assert.equal((await readFile(await download.path())).length, 50 * MEGA)

    await page.getByRole('button', { name: 'Delete film' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await levelOf(context), 50 * MEGA)
    await page.getByRole('button', { name: 'Delete film' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForSelector('text=There is no file here yet')
    await page.waitForSelector('text=0 B of 100 MiB used')
    assert.deepEqual([await levelOf(context), await entriesOf(context)], [0, []])
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('a file that is too large is refused by the service, which says how large one may be (D7.4)', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [413] })
  const context = await atFiles(page)
  await page.setInputFiles('input[type=file]', await fileOf('huge.bin', 61 * MEGA))
  await page.waitForSelector('text=Too large: a file may have at most 60 MiB, this one has 61 MiB.')
  assert.deepEqual([await levelOf(context), await entriesOf(context)], [0, []], 'nothing of it is left')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a file for which there is no room is explained in numbers, not sent, and goes once there is', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page, 3 * MEGA)
  await page.setInputFiles('input[type=file]', [await fileOf('one.bin', 2 * MEGA), await fileOf('two.txt', 5 * MEGA)])
  await page.waitForSelector('text=Uploaded, 2 MiB')
  const refusal = page.locator('.upload .error')
  await refusal.waitFor()
  assert.match(await refusal.innerText(), /needs 5 MiB, but only (3|1) MiB of 3 MiB are free. (2|4) MiB too much/)
  await admin.put(`${context}/quota`, { quota: 10 * MEGA })
  await page.getByRole('button', { name: 'Try again: two.txt' }).click()
  await page.waitForSelector('text=Uploaded, 5 MiB')
  await page.waitForSelector('text=7 MiB of 10 MiB used, 3 MiB free')
  assert.equal((await entriesOf(context)).length, 2)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('room that goes while the file is under way: the refusal of the service is told the same way', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [413] })
  const context = await atFiles(page, 3 * MEGA)
  // As if somebody else had filled it between the look at the quota and the upload.
  await page.route('**/_contexts/entry/**', async route => {
    const answer = await route.fetch()
    await admin.put(`${context}/quota`, { quota: MEGA })
    await route.fulfill({ response: answer })
  })
  await page.setInputFiles('input[type=file]', await fileOf('late.bin', 2 * MEGA))
  await page.waitForSelector('text=Does not fit: it needs 2 MiB, but only 1 MiB of 1 MiB are free. 1 MiB too much.')
  assert.deepEqual([await levelOf(context), await entriesOf(context)], [0, []])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('an upload that is cancelled leaves nothing behind, and can be tried again', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  // Slow enough to be cancelled.
  const network = await page.context().newCDPSession(page)
  const throughput = { offline: false, latency: 0, downloadThroughput: -1 }
  await network.send('Network.emulateNetworkConditions', { ...throughput, uploadThroughput: MEGA })
  await page.setInputFiles('input[type=file]', await fileOf('slow.bin', 20 * MEGA))
  await page.getByRole('progressbar', { name: 'Upload of slow.bin' }).waitFor()
  await until(
    async () => (await entriesOf(context)).length,
    count => count === 1,
  )
  let undo = (): void => {}
  const mayUndo = new Promise<void>(resolve => (undo = resolve))
  await page.route('**/entry/*', async route => {
    if (route.request().method() === 'DELETE') await mayUndo
    await route.continue()
  })
  await page.getByRole('button', { name: 'Cancel slow.bin' }).click()
  await page.waitForSelector('text=Cancelled')
  await network.send('Network.emulateNetworkConditions', { ...throughput, uploadThroughput: -1 })
  // At once: the first try is not undone yet.
  await page.getByRole('button', { name: 'Try again: slow.bin' }).click()
  undo()
  await page.waitForSelector('text=Uploaded, 20 MiB')
  assert.equal(await levelOf(context), 20 * MEGA)
  assert.equal((await entriesOf(context)).length, 1, 'the first try has left nothing')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('many files are dropped at once, and all arrive', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  await page.evaluate(() => {
    const data = new DataTransfer()
    for (let count = 1; count <= 12; count++) data.items.add(new File([`file ${count}`], `${count} — “ö”.txt`))
    for (const type of ['dragover', 'drop']) {
      const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true })
      document.querySelector('.zone')?.dispatchEvent(event)
    }
  })
  await page.waitForSelector('text=12 uploaded.')
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 12)
  assert.equal((await entriesOf(context)).length, 12)
  assert.ok((await page.innerText('tbody')).includes('7 — “ö”.txt'))
  await page.getByRole('button', { name: 'Clear the list' }).click()
  assert.equal(await page.locator('.upload').count(), 0)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('who may only read sees the files and no way to change them; who may not is told so', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [403, 404] })
  const context = await newContext(admin)
  const read = [{ type: 'uri', value: `${service.base}_principals/resource/${id}` }]
  const info = { [`${service.base}${context}`]: { 'http://entrystore.org/terms/read': read } }
  await admin.put(`_contexts/entry/${context}`, info)
  await admin.post(`${context}?id=thing`)
  await admin.ask(`${context}/resource/thing`, { method: 'PUT', body: 'x' })
  await signIn(page, service.base, name, GOOD_PASSWORD)
  await page.goto(`${service.base}ui/contexts/${context}/files`)
  await page.waitForSelector('tbody tr')
  await page.waitForSelector('text=You may look at the files here')
  assert.equal(await page.getByRole('button', { name: /Delete|Choose/ }).count(), 0)
  await page.goto(`${service.base}ui/contexts/no-such/files`)
  await page.waitForSelector('text=There is no such thing here')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a session that ends while a file is under way leads to signing in', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [401] })
  await atFiles(page)
  await page.context().clearCookies()
  await page.setInputFiles('input[type=file]', await fileOf('lost.txt', 10))
  await page.waitForURL(/auth\/login.*ended/)
  assert.deepEqual(complaints, [])
  await close()
})
