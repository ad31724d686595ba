import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { freePort } from '../support/peers/peer-process.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startInProcess } from '../support/service.ts'
import { enter, newPerson, openBrowser } from '../support/ui.ts'
import { putFile } from '../support/uploads.ts'

const port = await freePort()
const content = `http://localhost:${port}/`
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.http.port': String(port),
      'service.content.base-url': content,
      'service.auth.cookie.secure': 'off',
    },
  },
)
const admin = await service.admin()
const context = await newContext(admin)

async function upload(type: string, text: string): Promise<string> {
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, text, { 'content-type': type })).status, 201)
  return service.base + path
}

const inBrowser = await openBrowser()

inBrowser(
  'Chromium shows an uploaded page at the content origin; its scripts do not run, and no cookie goes there (D18.15)',
  async browser => {
    const { page, close } = await newPerson(browser)
    await enter(page, service.base, 'admin', ADMIN_PASSWORD)
    // While it is idle, the first page fetches the code of others.
    await page.goto('about:blank')
    const requests: Promise<{ readonly url: string; readonly cookie: string | undefined }>[] = []
    page.on('response', response => {
      const headers = response.request().allHeaders()
      requests.push(headers.then(({ cookie }) => ({ url: response.url(), cookie })))
    })

    const file = await upload(
      'text/html',
      `<!doctype html><title>Report</title><style>h1 { color: rgb(1, 2, 3) }</style><h1>Report</h1>
    <script>document.title = 'changed'; fetch('${service.base}auth/user', { credentials: 'include' })</script>
    <img src="${service.base}auth/logout"><form action="${service.base}auth/cookie" method="post"><button>Send</button></form>`,
    )
    await page.goto(file)
    assert.ok(page.url().startsWith(`${content}files/`), page.url())
    assert.equal(await page.title(), 'Report')
    const colour = await page.evaluate(() => getComputedStyle(document.querySelector('h1') as Element).color)
    assert.equal(colour, 'rgb(1, 2, 3)')
    await page.click('button')
    const asked = await Promise.all(requests)
    const atContent = asked.filter(({ url }) => url.startsWith(content))
    assert.ok(atContent.length > 0)
    assert.deepEqual(
      atContent.filter(({ cookie }) => cookie !== undefined),
      [],
    )
    assert.deepEqual(
      asked.filter(({ url }) => url.startsWith(service.base) && url !== file),
      [],
    )

    await page.goto(
      await upload(
        'image/svg+xml',
        '<svg xmlns="http://www.w3.org/2000/svg"><text>drawn</text><script>document.documentElement.remove()</script></svg>',
      ),
    )
    assert.ok(page.url().startsWith(content))
    assert.equal(await page.textContent('text'), 'drawn')

    // The user is still signed in, and the reload of an ended ticket leads back through the address of the file.
    service.system.pass(400_000)
    const [ended] = [page.url()]
    await page.goto(ended)
    assert.ok(page.url().startsWith(`${content}files/`) && page.url() !== ended, page.url())
    assert.equal(await page.textContent('text'), 'drawn')
    await close()
  },
)
