import assert from 'node:assert/strict'
import { crc32, deflateSync } from 'node:zlib'
import { startFilesService } from '../support/files-page.ts'
import { newPerson, openBrowser, requireAccessible } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, atFiles, store } = await startFilesService()

/** A picture of one red pixel. */
function png(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
  const pixel = deflateSync(Buffer.from([0, 255, 0, 0]))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', pixel), chunk('IEND', Buffer.alloc(0))])
}

inBrowser('a picture is enlarged by buttons and keys; a large one is fetched only when asked for', async b => {
  const { page, complaints, close } = await newPerson(b)
  const context = await atFiles(page)
  await store(context, 'dot.png', png(), 'image/png')
  const large = await store(context, 'large.png', Buffer.concat([png(), Buffer.alloc(9_000_000)]), 'image/png')
  await page.reload()
  await page.getByRole('link', { name: 'dot.png' }).click()
  const dialog = page.getByRole('dialog', { name: 'dot.png' })
  await dialog.locator('img.preview').evaluate(image => (image as HTMLImageElement).decode())
  const widthOf = async (): Promise<number> => (await dialog.locator('img.preview').boundingBox())?.width ?? 0
  await dialog.getByText('Fits').waitFor()
  const fitting = await widthOf()
  await dialog.getByRole('button', { name: 'Enlarge' }).click()
  await dialog.getByText('200').waitFor()
  assert.equal(await widthOf(), 2 * fitting)
  await page.keyboard.press('+')
  await dialog.getByText('400').waitFor()
  await requireAccessible(page)
  await page.keyboard.press('0')
  await dialog.getByText('Fits').waitFor()
  assert.equal(await widthOf(), fitting)
  await page.keyboard.press('Escape')

  const fetched: string[] = []
  // Its digest comes from a HEAD.
  page.on('request', request => {
    if (request.url().endsWith(`/${context}/resource/${large}`) && request.method() !== 'HEAD')
      fetched.push(request.resourceType())
  })
  await page.getByRole('link', { name: 'large.png' }).click()
  const show = page.getByRole('dialog', { name: 'large.png' }).getByRole('button', { name: 'Show picture' })
  await show.waitFor()
  assert.deepEqual(fetched, [])
  await show.click()
  await page.locator('dialog img.preview').waitFor()
  await eventually('it is fetched', () => fetched.length > 0)
  assert.deepEqual(complaints, [])
  await close()
})

/** One second of silence: PCM, 8000 samples of 8 bits. */
function wav(): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + 8000, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(8000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(8000, 40)
  return Buffer.concat([head, Buffer.alloc(8000, 128)])
}

inBrowser(
  'a name opens a preview of an image, a sound, a film or a text; a page of a user is shown as text',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    await store(context, 'dot.png', png(), 'image/png')
    await store(context, 'silence.wav', wav(), 'audio/wav')
    await store(context, 'film.webm', Buffer.alloc(100), 'video/webm')
    await store(context, 'page.html', '<h1>Hello</h1><script>document.title = "taken over"</script>', 'text/html')
    await store(context, 'data.bin', Buffer.alloc(10), 'application/octet-stream')
    await page.reload()
    const open = async (name: string) => {
      await page.getByRole('link', { name, exact: true }).click()
      const dialog = page.getByRole('dialog', { name })
      await dialog.waitFor()
      return dialog
    }
    const shut = async (): Promise<void> => {
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    const picture = (await open('dot.png')).getByRole('img', { name: 'dot.png' })
    await picture.evaluate(image => (image as HTMLImageElement).decode())
    assert.equal(await picture.evaluate(image => (image as HTMLImageElement).naturalWidth), 1)
    await requireAccessible(page)
    await shut()

    const sound = (await open('silence.wav')).locator('audio[controls]')
    const duration = await sound.evaluate(
      audio =>
        new Promise<number>(resolve => {
          const { readyState, duration } = audio as HTMLAudioElement
          if (readyState > 0) resolve(duration)
          audio.addEventListener('loadedmetadata', () => resolve((audio as HTMLAudioElement).duration))
        }),
    )
    assert.equal(duration, 1)
    await requireAccessible(page)
    await shut()

    const film = (await open('film.webm')).locator('video[controls]')
    assert.match((await film.getAttribute('src')) ?? '', new RegExp(`${context}/resource/`))
    await shut()

    await (await open('page.html')).locator('pre.preview').filter({ hasText: '<script>' }).waitFor()
    assert.notEqual(await page.title(), 'taken over')
    await shut()

    await (await open('data.bin')).getByText('There is no preview for this kind of file.').waitFor()
    await shut()
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'an SVG is shown as an image, in which nothing runs and nothing is fetched; its code is the second choice',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    const context = await atFiles(page)
    const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="parent.document.title = 'taken over'">
    <style>rect { fill: rgb(0, 128, 0) }</style><rect width="40" height="40"/>
    <script>parent.document.title = 'taken over'; document.documentElement.remove()</script>
    <image href="${service.base}auth/logout" width="1" height="1"/><image href="https://example.org/x.png" width="1" height="1"/></svg>`
    await store(context, 'plan.svg', drawing, 'image/svg+xml')
    await store(context, 'broken.svg', '<svg', 'image/svg+xml')
    await page.reload()
    await page.getByRole('link', { name: 'plan.svg', exact: true }).waitFor()
    const requests: string[] = []
    page.on('request', request => requests.push(request.url()))
    await page.getByRole('link', { name: 'plan.svg', exact: true }).click()
    const image = page.getByRole('dialog').getByRole('img', { name: 'plan.svg' })
    const colour = await image.evaluate(async element => {
      const image = element as HTMLImageElement
      await image.decode()
      const draw = new OffscreenCanvas(4, 4).getContext('2d') as OffscreenCanvasRenderingContext2D
      draw.drawImage(image, 0, 0, 4, 4)
      return [...draw.getImageData(2, 2, 1, 1).data].slice(0, 3)
    })
    assert.deepEqual(colour, [0, 128, 0])
    await requireAccessible(page)
    await page.getByRole('button', { name: 'Show code' }).click()
    await page.locator('pre.preview').filter({ hasText: '<script>' }).waitFor()
    await page.getByRole('button', { name: 'Show image' }).click()
    await image.waitFor()
    assert.notEqual(await page.title(), 'taken over')
    assert.deepEqual(
      requests.filter(url => url.includes('logout') || !url.startsWith(service.base)),
      [],
    )
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'broken.svg', exact: true }).click()
    await page.locator('pre.preview').filter({ hasText: '<svg' }).waitFor()
    assert.deepEqual(complaints, [])
    await close()
  },
)
