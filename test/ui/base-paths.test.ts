import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { newContext, startInProcess } from '../support/service.ts'
import { newPerson, openBrowser, signIn } from '../support/ui.ts'

const inBrowser = await openBrowser()

for (const path of ['/store/', '/x/y/']) {
  inBrowser(`everything works under the base path ${path}: sign in, account, files, reload, sign out`, async b => {
    const port = await freePort()
    const base = `http://127.0.0.1:${port}${path}`
    const settings = { 'service.baseurl.folder': base, 'service.http.port': String(port) }
    const service = await startInProcess({ after }, { settings })
    assert.equal(service.base, base)
    const admin = await service.admin()
    const { id, name } = await addUser(admin, 'anna@example.org')
    const context = await newContext(admin, [id])
    const { page, complaints, close } = await newPerson(b)
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    await page.goto(base)
    await page.waitForURL(`${base}auth/login`)
    await signIn(page, base, name, GOOD_PASSWORD)
    await page.click('.tile a')
    await page.waitForURL(`${base}ui/contexts/${context}/files`)
    await page.reload()
    await page.setInputFiles('input[type=file]', { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') })
    await page.waitForSelector('tbody tr')
    await page.click('.brand')
    await page.waitForURL(`${base}ui/`)
    await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${base}auth/login`)
    assert.deepEqual(
      asked.filter(url => !url.startsWith(base)),
      [],
    )
    assert.deepEqual(complaints, [])
    await close()
  })
}

inBrowser('an equivalent address that the cookie may not cover redirects to the base address (D1.2)', async b => {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}/x/y/`
  const settings = { 'service.baseurl.folder': base, 'service.http.port': String(port) }
  const service = await startInProcess({ after }, { settings })
  const { name } = await addUser(await service.admin(), 'anna@example.org')
  const { page, complaints, close } = await newPerson(b)
  await signIn(page, base, name, GOOD_PASSWORD)
  for (const other of [
    `http://127.0.0.1:${port}/store/ui/`,
    `http://127.0.0.1:${port}/ui/`,
    `http://localhost:${port}/x/y/ui/`,
  ]) {
    await page.goto(other)
    await page.waitForURL(`${base}ui/`)
    await page.waitForSelector('h1:text("My files")')
  }
  assert.deepEqual(complaints, [])
  await close()
})
