import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { newContext } from '../support/service.ts'
import { enter, escape, newPerson, openBrowser, requireAccessible } from '../support/ui.ts'

// Without a process of its own for the sandboxed frame, Chromium complains about the messages by which axe looks for frames.
const inBrowser = await openBrowser('whole')
const { service, admin, id, name, store } = await startFilesService()
const context = await newContext(admin, [id])

/** One page of 200 × 100 points with a black rectangle and a word. */
function pdf(): string {
  const drawing = '0 0 0 rg 20 20 100 50 re f BT /F1 12 Tf 130 80 Td (Salinity) Tj ET'
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return String(offset).padStart(10, '0')
  })
  const table = offsets.map(offset => `${offset} 00000 n \n`).join('')
  const size = objects.length + 1
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
}

test('the page that draws PDF documents has no origin and connects to nothing, also when it is opened by itself', async () => {
  const { headers, text } = await service.visitor().get('ui/pdf')
  const policy = String(headers['content-security-policy'])
  assert.match(policy, /^sandbox allow-scripts; default-src 'none';/)
  assert.doesNotMatch(policy, /allow-same-origin|connect-src|unsafe/)
  assert.match(text, /<script src="[^"]+\/ui\/assets\/pdf-\w+\.js">/)
})

inBrowser('a PDF is drawn in a sandbox without access to the session; a damaged one has no preview', async b => {
  await store(context, 'plan.pdf', pdf(), 'application/pdf')
  await store(context, 'damaged.pdf', 'no document', 'application/pdf')
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, name, GOOD_PASSWORD, `ui/contexts/${context}/files`)
  await page.getByRole('link', { name: 'plan.pdf', exact: true }).click()
  const inFrame = page.frameLocator('iframe.pdf')
  const canvas = inFrame.getByRole('img', { name: 'Page 1 of 1' })
  await canvas.and(inFrame.locator('[data-state=drawn]')).waitFor()
  const [middle, corner] = await canvas.evaluate((drawn: HTMLCanvasElement) => {
    const { width, height } = drawn
    const at = (x: number, y: number): number => drawn.getContext('2d')?.getImageData(x, y, 1, 1).data[0] ?? -1
    return [at(width * 0.35, height * 0.55), at(width * 0.95, height * 0.05)]
  })
  assert.deepEqual([middle, corner], [0, 255], 'black in the rectangle, white beside it')
  assert.equal(await inFrame.locator('.text-layer').innerText(), 'Salinity', 'its text can be selected and read aloud')
  const frame = page.frames().find(one => one.url().endsWith('/ui/pdf'))
  assert.ok(frame)
  const reached = await frame.evaluate(async () => {
    const attempt = async (work: () => unknown): Promise<boolean> => {
      try {
        await work()
        return true
      } catch {
        return false
      }
    }
    return [
      self.origin,
      await attempt(() => document.cookie),
      await attempt(() => window.parent.document.title),
      await attempt(() => localStorage.length),
    ]
  })
  assert.deepEqual(reached, ['null', false, false, false])
  await requireAccessible(page)
  await escape(page)
  await page.getByRole('link', { name: 'damaged.pdf', exact: true }).click()
  await page.getByRole('dialog').locator('.empty').waitFor()
  assert.deepEqual(complaints, [])
  await close()
})
