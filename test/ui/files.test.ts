import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import {
  addNew,
  drag,
  limitUploads,
  MEGA,
  openTray,
  pick,
  row,
  SLOW,
  startFilesService,
  UNLIMITED,
} from '../support/files-page.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext } from '../support/service.ts'
import { enter, escape, newPerson, openBrowser, phone, requireAccessible } from '../support/ui.ts'
import { until } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, filesUrl, levelOf, entriesOf, fileOf, folderOf, store, atFiles } =
  await startFilesService()

inBrowser('a file of 50 MB is uploaded with a progress bar, listed, downloaded unchanged and deleted', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page, 100 * MEGA)
  const seen: number[] = []
  await page.exposeFunction('noteLevel', (level: string) => seen.push(Number(level)))
  await page.evaluate(() => {
    const note = (window as unknown as { noteLevel: (level: string) => void }).noteLevel
    new MutationObserver(() => {
      const bar = document.querySelector('.upload [role=progressbar]')
      if (bar) note(bar.getAttribute('aria-valuenow') ?? '')
    }).observe(document.body, { subtree: true, childList: true, attributes: true })
  })
  // Fast enough for a test, and slow enough for the bar to be drawn on the way.
  await limitUploads(page, 25 * MEGA)
  await page.setInputFiles('input[type=file]', await fileOf('film.mp4', 50 * MEGA))
  await openTray(page)
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
  await row(page, 'film.mp4').waitFor()
  assert.match(await row(page, 'film.mp4').innerText(), /film\.mp4[^]*50 MiB/)
  await page.waitForSelector('text=50 MiB of 100 MiB used, 50 MiB free')
  assert.equal(await levelOf(context), 50 * MEGA)

  const coming = page.waitForEvent('download')
  await pick(page, 'film.mp4', 'Download')
  const download = await coming
  assert.equal(download.suggestedFilename(), 'film.mp4')
  assert.equal((await readFile(await download.path())).length, 50 * MEGA)

  await pick(page, 'film.mp4', 'Delete')
  await page.waitForSelector('text=film.mp4 moved to the trash.')
  await page.waitForSelector('text=No files yet')
  assert.equal(await levelOf(context), 50 * MEGA)
  await page.getByRole('link', { name: 'Trash' }).click()
  await page.waitForSelector('text=Files in the trash take 50 MiB.')
  await page.getByRole('button', { name: 'Empty trash' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Empty trash' }).click()
  await page.waitForSelector('text=The trash is empty.')
  await page.locator('.crumbs a').first().click()
  await page.waitForSelector('text=0 B of 100 MiB used')
  assert.deepEqual([await levelOf(context), await entriesOf(context)], [0, []])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the service rejects a file that is too large and reports the limit (D7.4)', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [413] })
  const context = await atFiles(page)
  await page.setInputFiles('input[type=file]', await fileOf('huge.bin', 61 * MEGA))
  await page.waitForSelector('text=Too large: a file can have at most 60 MiB, this one has 61 MiB.')
  assert.deepEqual([await levelOf(context), await entriesOf(context)], [0, []], 'nothing of it is left')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'a file that does not fit the quota is not sent; the message has the numbers, and the upload succeeds once there is room',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page, 3 * MEGA)
    await page.setInputFiles('input[type=file]', [await fileOf('one.bin', 2 * MEGA), await fileOf('two.txt', 5 * MEGA)])
    await openTray(page)
    await page.waitForSelector('text=Uploaded, 2 MiB')
    const refusal = page.locator('.upload .error')
    await refusal.waitFor()
    assert.match(await refusal.innerText(), /needs 5 MiB, but only (3|1) MiB of 3 MiB were free. (2|4) MiB too much/)
    await admin.put(`${context}/quota`, { quota: 10 * MEGA })
    await page.getByRole('button', { name: 'Try again: two.txt' }).click()
    await openTray(page)
    await page.waitForSelector('text=Uploaded, 5 MiB')
    await page.waitForSelector('text=7 MiB of 10 MiB used, 3 MiB free')
    assert.equal((await entriesOf(context)).length, 2)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('of two files that do not fit together, the second reports the space that the first leaves', async b => {
  const { page, complaints, close } = await newPerson(b)
  await atFiles(page, 10 * MEGA)
  const files = [await fileOf('first.bin', 6 * MEGA), await fileOf('second.bin', 5 * MEGA)]
  await page.setInputFiles('input[type=file]', files)
  const refusal = page.locator('.upload .error')
  await refusal.waitFor()
  assert.match(await refusal.innerText(), /needs (5|6) MiB, but only (4|5) MiB of 10 MiB were free. 1 MiB too much/)
  await page.locator('.upload .good').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('space reserved by another upload is reported as reserved, not as free', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [413] })
  const context = await atFiles(page, 10 * MEGA)
  const held = service.visitor()
  await held.signIn(name, GOOD_PASSWORD)
  const { pathname } = new URL(service.base)
  const other = await sendRaw(service.base, [
    `POST ${pathname}${context}?file HTTP/1.1`,
    `Cookie: auth_token=${held.cookie}`,
    'Content-Type: text/plain',
    `Content-Length: ${6 * MEGA}`,
    'Expect: 100-continue',
    'Connection: close',
  ])
  // The permission to send comes after the reservation.
  await other.until(/^HTTP\/1\.1 100 /)
  await page.setInputFiles('input[type=file]', await fileOf('beside.bin', 5 * MEGA))
  await page.waitForSelector('text=Does not fit while other uploads are in progress: it needs 5 MiB')
  other.socket.write(Buffer.alloc(6 * MEGA))
  await other.until(/^HTTP\/1\.1 201 /m)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a cancelled upload leaves nothing behind and can be retried', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const limit = await limitUploads(page, SLOW)
  await page.setInputFiles('input[type=file]', await fileOf('slow.bin', 8 * MEGA))
  await openTray(page)
  await page.getByRole('progressbar', { name: 'Upload of slow.bin' }).waitFor()
  assert.deepEqual(await entriesOf(context), [], 'there is no entry before its bytes')
  await page.getByRole('button', { name: 'Cancel slow.bin' }).click()
  await page.waitForSelector('text=Cancelled')
  await limit(UNLIMITED)
  await page.getByRole('button', { name: 'Try again: slow.bin' }).click()
  await openTray(page)
  await page.waitForSelector('text=Uploaded, 8 MiB')
  assert.equal(await levelOf(context), 8 * MEGA)
  assert.equal((await entriesOf(context)).length, 1, 'the first try has left nothing')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('closing the tab during an upload leaves no entry without a file', async b => {
  const { page, close } = await newPerson(b)
  const context = await atFiles(page)
  await limitUploads(page, SLOW)
  await page.setInputFiles('input[type=file]', await fileOf('closed.bin', 8 * MEGA))
  await openTray(page)
  await page.getByRole('progressbar', { name: 'Upload of closed.bin' }).waitFor()
  await close()
  await until(
    async () => [await entriesOf(context), await levelOf(context)],
    ([entries, level]) => (entries as readonly string[]).length === 0 && level === 0,
  )
})

inBrowser('uploading 60 small files takes few more than 60 requests; each batch is announced separately', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  let requests = 0
  const ofFile = new RegExp(`/${context}/(?:entry|metadata|resource)/`)
  page.on('request', request => {
    // How often the list is loaded again meanwhile depends on the machine.
    if (request.method() !== 'GET' || ofFile.test(request.url())) requests++
  })
  const drop = (first: number, last: number): Promise<void> =>
    page.evaluate(
      ([first = 0, last = 0]) => {
        const data = new DataTransfer()
        for (let count = first; count <= last; count++)
          data.items.add(new File([`file ${count}`], `${count} — “ö”.txt`))
        for (const type of ['dragover', 'drop']) {
          const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true })
          document.querySelector('main')?.dispatchEvent(event)
        }
      },
      [first, last],
    )
  await drop(1, 60)
  await page.waitForSelector('text=60 files uploaded.')
  await page.waitForSelector('text=60 items')
  assert.ok(requests < 70, `${requests} requests`)
  assert.equal((await entriesOf(context)).length, 60)
  await drop(61, 62)
  await page.waitForSelector('text=2 files uploaded.')
  await row(page, '7 — “ö”.txt').first().waitFor()
  await page.getByRole('button', { name: 'Clear list' }).click()
  await page.locator('.upload').first().waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'with read access the page offers no changes; without access it says so and links to another page',
  async b => {
    const { page, complaints, close } = await newPerson(b, { refusals: [403, 404] })
    const context = await newContext(admin)
    const read = [{ type: 'uri', value: `${service.base}_principals/resource/${id}` }]
    const info = { [`${service.base}${context}`]: { 'http://entrystore.org/terms/read': read } }
    await admin.put(`_contexts/entry/${context}`, info)
    await store(context, 'thing.txt')
    await enter(page, service.base, name, GOOD_PASSWORD)
    await page.getByRole('link', { name: 'Shared with me', exact: true }).click()
    await page.locator('.tile a').filter({ hasText: context }).click()
    await row(page, 'thing.txt').waitFor()
    await page.waitForSelector('text=You can read the files here')
    assert.equal(await page.getByRole('button', { name: 'New', exact: true }).count(), 0)
    await page.getByRole('button', { name: 'Actions for thing.txt' }).click()
    await page.getByRole('menu').waitFor()
    assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), [
      'Details',
      'Download',
      'Add to favourites',
      'Copy',
    ])
    await page.goto(filesUrl(await newContext(admin)))
    await page.waitForSelector('text=You do not have access to the files of this space.')
    assert.equal(await page.getByText('No files yet').count(), 0)
    await page.getByRole('link', { name: 'Go to my files' }).click()
    await page.waitForURL(`${service.base}ui/`)
    await page.goto(filesUrl('no-such'))
    await page.waitForSelector('text=It does not exist, or no longer exists.')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('long, misleading and non-Latin names neither break the list nor hide anything (D14.11)', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const long = `${'long '.repeat(398)}name.txt`
  for (const file of [long, 'x'.repeat(249), 'photo\u202Egnp.exe', 'שלום.txt', 'a\u0007b.txt'])
    await store(context, file)
  await page.reload()
  await page.waitForSelector('text=5 items')
  const text = await page.innerText('table')
  assert.ok(text.includes('photo‹U+202E›gnp.exe'), text)
  assert.ok(text.includes('a‹U+0007›b.txt'), text)
  for (const height of await page.locator('tbody tr:not(.gap)').evaluateAll(rows => rows.map(row => row.clientHeight)))
    assert.ok(height <= 60, `a row of ${height} pixels`)
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  assert.ok(overflow <= 0, `${overflow} pixels too wide`)
  assert.equal(await page.locator('tbody bdi').count(), 5, 'each name has its own direction')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'after a deletion by keyboard the focus is on the next row; a dialog opens with the focus in its first field',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    for (const file of ['a.txt', 'b.txt', 'c.txt']) await store(context, file)
    await page.reload()
    await page.getByRole('button', { name: 'Actions for b.txt' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=2 items')
    await page.waitForFunction(() => document.activeElement?.closest('tr')?.textContent?.includes('c.txt'))
    await pick(page, 'c.txt', 'Rename')
    await page.waitForFunction(() => (document.activeElement as HTMLInputElement).value === 'c.txt')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('files are renamed, replaced, described, found by name and sorted', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  await store(context, 'first.txt', 'one')
  await store(context, 'second.txt', 'twotwo')
  await page.reload()
  await pick(page, 'first.txt', 'Rename')
  await page.getByRole('dialog').getByLabel('Name').fill('renamed.txt')
  await page.keyboard.press('Enter')
  await row(page, 'renamed.txt').waitFor()
  await pick(page, 'renamed.txt', 'Details')
  const details = page.getByRole('dialog', { name: 'renamed.txt' })
  await details.getByText('one').first().waitFor()
  await details.getByLabel('Title', { exact: true }).fill('A title')
  await details.getByLabel('Description', { exact: true }).fill('Two\nlines')
  await details.getByLabel('Tags').fill('harbour, 2026')
  await details.getByRole('button', { name: 'Save' }).click()
  await page.waitForSelector('text=Saved.')
  await page.reload()
  await details.getByLabel('Title', { exact: true }).waitFor()
  assert.equal(
    await details.getByLabel('Description', { exact: true }).inputValue(),
    'Two\nlines',
    'the address leads to the details',
  )
  await escape(page)
  await pick(page, 'renamed.txt', 'Replace file')
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose file' }).click()
  await (await chooser).setFiles({ name: 'other.txt', mimeType: 'text/plain', buffer: Buffer.alloc(2000) })
  await page.waitForSelector('text=1 file uploaded.')
  await row(page, 'renamed.txt').filter({ hasText: '2 KiB' }).waitFor()

  const names = (): Promise<string[]> => page.locator('tbody th.name bdi').allInnerTexts()
  assert.deepEqual(await names(), ['renamed.txt', 'second.txt'])
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await page.waitForFunction(() => document.querySelector('tbody bdi')?.textContent === 'second.txt')
  await page.getByRole('button', { name: 'Size', exact: true }).click()
  await page.waitForFunction(() => document.querySelector('tbody bdi')?.textContent === 'second.txt')
  await page.getByRole('searchbox', { name: 'Search all files' }).fill('NAMED')
  await page.getByLabel('Only in this space').check()
  await page.waitForSelector('text=1 item')
  assert.deepEqual(await names(), ['renamed.txt'])
  const feed = await page.getByRole('link', { name: 'Follow this search' }).getAttribute('href')
  const followed = await page.request.get(new URL(feed ?? '', page.url()).href)
  assert.match(followed.headers()['content-type'] ?? '', /^application\/atom\+xml/)
  assert.deepEqual((await followed.text()).match(/<entry><title>[^<]*/g), ['<entry><title>A title'])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'folders are created, opened, filled, moved by dialog and by drag, and deleted with their content',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    await store(context, 'loose.txt')
    await store(context, 'dragged.txt')
    await page.reload()
    await addNew(page, 'New folder')
    await page.getByRole('dialog').getByLabel('Name').fill('Harbour')
    await page.keyboard.press('Enter')
    await row(page, 'Harbour').waitFor()
    await pick(page, 'loose.txt', 'Move')
    const dialog = page.getByRole('dialog', { name: 'Move loose.txt' })
    assert.equal(await dialog.getByRole('button', { name: 'Move here' }).isDisabled(), true, 'it is at the top level')
    await dialog.getByRole('button', { name: 'Open the folder Harbour' }).click()
    await dialog.getByText('There are no folders here.').waitFor()
    await requireAccessible(page)
    await page.keyboard.press('Enter')
    await row(page, 'loose.txt').waitFor({ state: 'detached' })
    await drag(page, row(page, 'dragged.txt'), row(page, 'Harbour'))
    await row(page, 'dragged.txt').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Harbour' }).click()
    await page.waitForSelector('text=2 items')
    await page.setInputFiles('input[type=file]', {
      name: 'inside.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('x'),
    })
    // The message comes first and goes by itself.
    await page.waitForSelector('text=1 file uploaded.')
    await page.waitForSelector('text=3 items')
    assert.equal(await page.innerText('h1'), 'Harbour')
    await drag(page, row(page, 'inside.txt'), page.locator('.crumbs li').nth(1))
    await page.waitForSelector('text=2 items')
    await page.locator('.crumbs a').nth(1).click()
    await row(page, 'inside.txt').waitFor()
    await pick(page, 'Harbour', 'Delete')
    await row(page, 'Harbour').waitFor({ state: 'detached' })
    assert.equal((await entriesOf(context)).length, 1)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('for a file name that exists the user chooses to keep both, replace or skip', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  for (const file of ['both.txt', 'replace.txt', 'skip.txt']) await store(context, file, 'old')
  await page.reload()
  await page.waitForSelector('text=3 items')
  const files = ['both.txt', 'replace.txt', 'skip.txt', 'new.txt'].map(name => ({
    name,
    mimeType: 'text/plain',
    buffer: Buffer.from('newer'),
  }))
  await page.setInputFiles('input[type=file]', files)
  const asked = page.getByRole('dialog', { name: 'both.txt already exists' })
  await asked.getByText('In the folder', { exact: true }).waitFor()
  const told = await asked.locator('dd').allInnerTexts()
  assert.match(told[0] ?? '', /^3 B · \d/, 'size and date of the file in the folder')
  assert.match(told[1] ?? '', /^5 B · \d/, 'size and date of the new one')
  await asked.getByRole('button', { name: 'Keep both', exact: true }).click()
  await page.getByRole('dialog', { name: 'replace.txt' }).getByRole('button', { name: 'Replace', exact: true }).click()
  await page.getByRole('dialog', { name: 'skip.txt' }).getByRole('button', { name: 'Skip', exact: true }).click()
  await page.waitForSelector('text=5 items')
  const names = await page.locator('tbody th.name bdi').allInnerTexts()
  assert.deepEqual(names, ['both (2).txt', 'both.txt', 'new.txt', 'replace.txt', 'skip.txt'])
  await until(
    () => levelOf(context),
    level => level === 5 + 3 + 5 + 5 + 3,
  )
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'several selected files are deleted or moved together; pausing stops uploads that have not started',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    for (const file of ['a.txt', 'b.txt', 'c.txt']) await store(context, file)
    await page.reload()
    await page.getByLabel('Select a.txt').check()
    await page.getByLabel('Select c.txt').check()
    await page.waitForSelector('text=2 selected')
    await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Delete' }).click()
    await page.waitForSelector('text=1 item')
    assert.equal((await entriesOf(context)).length, 1)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'when the list is loaded again, the open menu, the focus and the ticked box stay with their file',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    for (const file of ['m.txt', 'z.txt']) await store(context, file)
    await page.reload()
    await page.waitForSelector('text=2 items')
    let release = (): void => undefined
    const held = new Promise<void>(resolve => (release = resolve))
    await page.route(/\?file=/, async route => {
      await held
      await route.continue()
    })
    await page.setInputFiles('input[type=file]', await fileOf('a.txt', 10))
    await page.getByLabel('Select z.txt').check()
    await page.getByRole('button', { name: 'Actions for m.txt' }).click()
    await page.getByRole('menu', { name: 'Actions for m.txt' }).waitFor()
    release()
    await row(page, 'a.txt').waitFor()
    // The new file is above both.
    const names = await page.locator('tbody th.name bdi').allInnerTexts()
    assert.deepEqual(names, ['a.txt', 'm.txt', 'z.txt'])
    assert.equal(await page.getByRole('menu').getAttribute('aria-label'), 'Actions for m.txt')
    assert.equal(await page.locator(':focus').innerText(), 'Details')
    const ticked = page.locator('tbody input:checked')
    assert.deepEqual(await ticked.evaluateAll(boxes => boxes.map(box => box.ariaLabel)), ['Select z.txt'])
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.waitForSelector('text=m.txt moved to the trash.')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('of 100,000 files the page draws those in the window, also after scrolling to the end', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  // The rows of a long list, without storing them.
  await page.route('**/search?*', async route => {
    const offset = Number(new URL(route.request().url()).searchParams.get('offset'))
    const children = Array.from({ length: Math.min(100, 100_000 - offset) }, (_, index) => {
      const entry = String(offset + index)
      const label = { 'http://www.w3.org/2000/01/rdf-schema#label': [{ type: 'literal', value: `file ${entry}.txt` }] }
      return { entryId: entry, contextId: context, info: { x: label }, rights: ['administer'] }
    })
    await route.fulfill({ json: { resource: { children }, results: 100_000 } })
  })
  await page.reload()
  await page.waitForSelector('text=100,000 items')
  assert.ok((await page.locator('tbody tr').count()) < 60)
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await row(page, 'file 99999.txt').waitFor()
  assert.ok((await page.locator('tbody tr').count()) < 60)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('on a phone the upload tray starts collapsed, and covers no row, collapsed or expanded', async b => {
  const { page, complaints, close } = await newPerson(b, phone)
  const context = await atFiles(page)
  for (let count = 0; count < 14; count++) await store(context, `file ${count}.txt`)
  await page.setInputFiles('input[type=file]', await fileOf('last.txt', 10))
  await page.waitForSelector('text=15 items')
  await page.locator('.tray [aria-expanded=false]').waitFor()
  /** Pixels by which the tray covers the last row when one has scrolled to the end. */
  const covered = (): Promise<number> =>
    page.evaluate(() => {
      scrollTo(0, document.documentElement.scrollHeight)
      const bottom = document.querySelector('tbody tr:last-child')?.getBoundingClientRect().bottom ?? 0
      return bottom - (document.querySelector('.tray')?.getBoundingClientRect().top ?? 0)
    })
  const isClear = (pixels: number): boolean => pixels <= 0
  await until(covered, isClear)
  await page.locator('.tray [aria-expanded=false]').click()
  await page.locator('.upload .good').waitFor()
  await until(covered, isClear)
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByLabel('Select last.txt').check()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('in a short window the upload tray starts collapsed, and what has the focus is never under it', async b => {
  const { page, complaints, close } = await newPerson(b, { viewport: { width: 1280, height: 460 } })
  const context = await atFiles(page)
  for (let count = 0; count < 9; count++) await store(context, `file ${count}.txt`)
  await store(context, 'newer.txt')
  await page.reload()
  await page.waitForSelector('text=10 items')
  // One that is going on keeps the tray.
  await limitUploads(page, SLOW)
  await page.setInputFiles('input[type=file]', await fileOf('last.txt', 50 * MEGA))
  await page.locator('.tray [aria-expanded=false]').waitFor()
  for (const isOpen of [false, true]) {
    if (isOpen) await openTray(page)
    await page.evaluate(() => scrollTo(0, 0))
    await page.locator('tbody th.name a').first().focus()
    for (const file of [...Array.from({ length: 9 }, (_, count) => `file ${count}.txt`), 'newer.txt']) {
      const link = page.getByRole('link', { name: file })
      await page.waitForFunction(name => document.activeElement?.textContent === name, file)
      const isClear = await link.evaluate(element => {
        const { left, top, bottom } = element.getBoundingClientRect()
        return [top + 1, bottom - 1].every(y => element.contains(document.elementFromPoint(left + 4, y)))
      })
      assert.ok(isClear, `${file}, ${isOpen ? 'open' : 'collapsed'}`)
      await page.keyboard.press('ArrowDown')
    }
  }
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a folder is uploaded with everything in it; files are sorted by type', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  const source = await folderOf({ 'Harbour/plan.pdf': '%PDF-1.4', 'Harbour/north/buoy.txt': 'x', 'Harbour/a.png': 'x' })
  await page.locator('input[webkitdirectory]').setInputFiles(source)
  await page.waitForSelector('text=3 files uploaded.')
  await page.getByRole('link', { name: 'Harbour' }).click()
  await page.waitForSelector('text=3 items')
  const names = (): Promise<string[]> => page.locator('tbody th.name bdi').allInnerTexts()
  const sorted = (expected: readonly string[]) =>
    until(names, found => JSON.stringify(found) === JSON.stringify(expected))
  await sorted(['north', 'a.png', 'plan.pdf'])
  await page.getByRole('button', { name: 'Type', exact: true }).click()
  await sorted(['north', 'plan.pdf', 'a.png'])
  await page.getByRole('link', { name: 'north' }).click()
  await row(page, 'buoy.txt').waitFor()
  assert.equal((await entriesOf(context)).length, 5, 'two folders, three files')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('paused uploads start when they are resumed, and a failed one is retried', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [503] })
  const context = await atFiles(page)
  const limit = await limitUploads(page, SLOW)
  const names = ['1.bin', '2.bin', '3.bin', '4.bin']
  await page.setInputFiles(
    'input[type=file]',
    await Promise.all(names.map(name => fileOf(name, name === '4.bin' ? 10 : 7 * MEGA))),
  )
  await openTray(page)
  // Three at once: the others begin before the pause.
  await page.locator('.upload [role=progressbar]').nth(2).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.waitForSelector('text=Paused.')
  await page.locator('.upload').filter({ hasText: '4.bin' }).filter({ hasText: 'Waiting' }).waitFor()
  await limit(UNLIMITED)
  await until(
    () => page.locator('.upload .good').count(),
    count => count === 3,
  )
  await page.locator('.upload').filter({ hasText: '4.bin' }).filter({ hasText: 'Waiting' }).waitFor()
  assert.equal((await entriesOf(context)).length, 3, 'the fourth has not begun')
  // The service refuses it once.
  await page.route(/\?file=/, route => route.fulfill({ status: 503, json: { code: 'overloaded' } }), { times: 1 })
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Try again: 4.bin' }).click()
  await page.locator('.upload').filter({ hasText: '4.bin' }).locator('.good').waitFor()
  assert.equal((await entriesOf(context)).length, 4)
  assert.deepEqual(complaints, [])
  await close()
})
