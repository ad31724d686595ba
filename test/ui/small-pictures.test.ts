import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { embeddedPicture } from '../../ui/lib/embedded-picture.ts'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { row, startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import { desktop, enter, newPerson, openBrowser } from '../support/ui.ts'
import { eventually } from '../support/waiting.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService()

/** The Exif block of a camera: how the picture is turned, and a small one. */
function exif(small: Buffer, orientation: number, isLittle: boolean): Buffer {
  const u16 = (value: number): Buffer => {
    const bytes = Buffer.alloc(2)
    return isLittle ? bytes.writeUInt16LE(value) : bytes.writeUInt16BE(value), bytes
  }
  const u32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    return isLittle ? bytes.writeUInt32LE(value) : bytes.writeUInt32BE(value), bytes
  }
  const SHORT = 3
  const LONG = 4
  const short = (tag: number, value: number): Buffer =>
    Buffer.concat([u16(tag), u16(SHORT), u32(1), u16(value), u16(0)])
  const long = (tag: number, value: number): Buffer => Buffer.concat([u16(tag), u16(LONG), u32(1), u32(value)])
  const first = Buffer.concat([u16(1), short(0x0112, orientation), u32(26)])
  const second = Buffer.concat([u16(2), long(0x0201, 56), long(0x0202, small.length), u32(0)])
  const tiff = Buffer.concat([Buffer.from(isLittle ? 'II' : 'MM'), u16(42), u32(8), first, second, small])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(tiff.length + 8)
  return Buffer.concat([Buffer.from([0xff, 0xe1]), length, Buffer.from('Exif\0\0', 'latin1'), tiff])
}

const withExif = (jpeg: Buffer, small: Buffer, orientation = 1, isLittle = true): Buffer =>
  Buffer.concat([jpeg.subarray(0, 2), exif(small, orientation, isLittle), jpeg.subarray(2)])

const tiny = Buffer.from([0xff, 0xd8, 1, 2, 3, 0xff, 0xd9])
const jfif = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xda, 0, 2])

test('the small picture in the head of a JPEG is found in both byte orders, with its quarter turns', () => {
  for (const isLittle of [true, false]) {
    for (const [orientation, turns] of [
      [1, 0],
      [3, 2],
      [6, 1],
      [8, 3],
      [9, 0],
    ] as const) {
      const found = embeddedPicture(new Uint8Array(withExif(jfif, tiny, orientation, isLittle)))
      assert.deepEqual(found, { bytes: new Uint8Array(tiny), turns })
    }
  }
})

test('of a file without one, a damaged one or any beginning of one, nothing is taken', () => {
  const whole = new Uint8Array(withExif(jfif, tiny))
  assert.equal(embeddedPicture(new Uint8Array(jfif)), undefined)
  const least = 2 + exif(tiny, 1, true).length
  for (let length = 0; length < least; length++) assert.equal(embeddedPicture(whole.slice(0, length)), undefined)
  for (let at = 0; at < whole.length; at++) {
    const damaged = whole.slice()
    damaged[at] = 0xff
    const found = embeddedPicture(damaged)
    assert.ok(found === undefined || found.bytes.length <= whole.length)
  }
})

/** A JPEG that a browser makes: its upper half and its lower half in two colours, with noise where it has to be large. */
const jpeg = async (page: Page, upper: string, lower: string, side: number): Promise<Buffer> => {
  const url = await page.evaluate(
    async ([upper, lower, side]) => {
      const canvas = new OffscreenCanvas(side, side)
      const draw = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
      draw.fillStyle = upper
      draw.fillRect(0, 0, side, side / 2)
      draw.fillStyle = lower
      draw.fillRect(0, side / 2, side, side / 2)
      const pixels = draw.getImageData(0, 0, side, side)
      let state = 1
      const noisy = side > 500 ? pixels.data.length : 0
      for (let at = 0; at < noisy; at++) {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
        if (at % 4 < 3) pixels.data[at] = (pixels.data[at] ?? 0) * 0.6 + (state % 256) * 0.4
      }
      draw.putImageData(pixels, 0, 0)
      const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 1 })
      const reader = new FileReader()
      await new Promise(resolve => {
        reader.onload = resolve
        reader.readAsDataURL(blob)
      })
      return reader.result as string
    },
    [upper, lower, side] as const,
  )
  // Not as an array of numbers: this process, in which the service runs as well, would be busy with it for seconds.
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}

/** The strongest of red, green and blue near the upper and the lower edge of the small picture in a row. */
async function coloursOf(page: Page, file: string): Promise<string[]> {
  const canvas = row(page, file).locator('canvas.thumbnail')
  await canvas.waitFor()
  return await canvas.evaluate(element => {
    const draw = (element as HTMLCanvasElement).getContext('2d') as CanvasRenderingContext2D
    const { data } = draw.getImageData(28, 0, 1, 56)
    return [6, 50].map(y => {
      const [red = 0, green = 0, blue = 0] = data.subarray(4 * y)
      return { [red]: 'red', [green]: 'green', [blue]: 'blue' }[Math.max(red, green, blue)] ?? ''
    })
  })
}

inBrowser(
  'large images have small pictures: of a photograph its head is fetched, of others the file, of huge ones nothing',
  async b => {
    const { page, complaints, close } = await newPerson(b, desktop)
    await enter(page, service.base, name, GOOD_PASSWORD)
    const large = await jpeg(page, '#e00', '#00e', 900)
    assert.ok(large.length > 262_144 && large.length < 4_194_304, `${large.length} bytes`)
    const small = await jpeg(page, '#0d0', '#00e', 120)
    const context = await newContext(admin, [id])
    const photo = await store(context, 'photo.jpg', withExif(large, small), 'image/jpeg')
    await store(context, 'turned.jpg', withExif(large, small, 3), 'image/jpeg')
    const plain = await store(context, 'plain.jpg', large, 'image/jpeg')
    const huge = await store(context, 'huge.png', Buffer.alloc(4_194_305), 'image/png')
    await store(context, 'damaged.png', Buffer.alloc(300_000), 'image/png')
    const fetched: string[] = []
    page.on('request', request => {
      const [, place, entry] = /\/([^/]+)\/resource\/([^/?]+)$/.exec(request.url()) ?? []
      if (place === context && entry !== undefined) fetched.push(`${entry} ${request.headers()['range']}`)
    })
    await page.goto(`${service.base}ui/contexts/${context}/files`)
    assert.deepEqual(await coloursOf(page, 'photo.jpg'), ['green', 'blue'])
    assert.deepEqual(await coloursOf(page, 'turned.jpg'), ['blue', 'green'])
    assert.deepEqual(await coloursOf(page, 'plain.jpg'), ['red', 'blue'])
    const head = 'bytes=0-65555'
    assert.deepEqual(
      fetched.filter(line => line.startsWith(`${photo} `)),
      [`${photo} ${head}`],
    )
    assert.deepEqual(
      fetched.filter(line => line.startsWith(`${plain} `)),
      [`${plain} ${head}`, `${plain} bytes=0-${large.length - 1}`],
    )
    for (const file of ['huge.png', 'damaged.png'])
      assert.equal(await row(page, file).locator('.icon-image').count(), 1, `${file} keeps its icon`)
    assert.ok(!fetched.some(line => line.startsWith(`${huge} `)))

    const before = fetched.length
    await page.getByRole('link', { name: 'My files' }).first().click()
    await page.waitForSelector('.tile')
    await page.goBack()
    assert.deepEqual(await coloursOf(page, 'photo.jpg'), ['green', 'blue'])
    assert.deepEqual(await coloursOf(page, 'plain.jpg'), ['red', 'blue'])
    assert.equal(fetched.length, before, 'what was made before is kept')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('small pictures are made of the rows in the window only', async b => {
  const { page, complaints, close } = await newPerson(b, desktop)
  await enter(page, service.base, name, GOOD_PASSWORD)
  const small = await jpeg(page, '#0d0', '#00e', 120)
  const photo = withExif(Buffer.concat([jfif, Buffer.alloc(270_000)]), small)
  const context = await newContext(admin, [id])
  for (let at = 10; at < 70; at++) await store(context, `${at}.jpg`, photo, 'image/jpeg')
  const opened = new Set<string>()
  page.on('request', request => {
    if (request.url().includes(`/${context}/resource/`)) opened.add(request.url())
  })
  await page.goto(`${service.base}ui/contexts/${context}/files`)
  await row(page, '10.jpg').waitFor()
  const inWindow = await page.locator('.files tbody tr').evaluateAll(rows => {
    const boxes = rows.map(row => row.getBoundingClientRect())
    return boxes.filter(({ top, height }) => height < 60 && top < innerHeight).length
  })
  await page.waitForFunction(count => document.querySelectorAll('canvas.thumbnail').length >= count, inWindow)
  assert.ok(opened.size <= inWindow + 1, `${opened.size} fetched for ${inWindow} rows`)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('when many bytes have been fetched for small pictures, no more large files are', async b => {
  const { page, complaints, close } = await newPerson(b, desktop)
  await enter(page, service.base, name, GOOD_PASSWORD)
  const small = await jpeg(page, '#0d0', '#00e', 120)
  const context = await newContext(admin, [id])
  const large: string[] = []
  for (let at = 1; at <= 9; at++) large.push(await store(context, `${at}.png`, Buffer.alloc(4_000_000), 'image/png'))
  const photo = withExif(Buffer.concat([jfif, Buffer.alloc(270_000)]), small)
  await store(context, 'last.jpg', photo, 'image/jpeg')
  const fetched: string[] = []
  page.on('request', request => fetched.push(request.url()))
  await page.goto(`${service.base}ui/contexts/${context}/files`, { waitUntil: 'networkidle' })
  const count = (): number =>
    large.filter(entry => fetched.some(url => url.endsWith(`/${context}/resource/${entry}`))).length
  await eventually('as many as may be fetched', () => count() >= 8)
  await row(page, 'last.jpg').locator('canvas.thumbnail').waitFor()
  assert.equal(count(), 8)
  assert.deepEqual(complaints, [])
  await close()
})
