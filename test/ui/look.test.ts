import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { linkOf, startSmtpServer } from '../support/smtp-server.ts'
import { ADMIN_PASSWORD, newContext, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  desktop,
  enter,
  newPerson,
  openBrowser,
  phone,
  picture,
  requireAccessible,
  shiftOf,
  watchShifts,
  zoomed,
} from '../support/ui.ts'

const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.data.quota': 'on',
      'service.auth.cas': 'on',
      'service.auth.cas.server.url': 'https://cas.example/cas',
      'service.auth.password-reset': 'on',
      ...smtp.settings,
    },
  },
)
const admin = await service.admin()
const inBrowser = await openBrowser()
const folder = await temporaryFolder()

const { id, name } = await addUser(admin, 'anna@example.org')
const contexts = [
  ['photos', 'Holiday photos', 40_000],
  ['survey', 'Survey of the harbour', 9300],
  ['maps', 'Maps', 8000],
] as const
const ids: string[] = []
for (const [key, title, quota] of contexts) {
  const context = await newContext(admin, [id])
  ids.push(context)
  await admin.put(context, { alias: key, quota })
  await admin.put(`_contexts/metadata/${context}`, {
    [`${service.base}${context}`]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: title }] },
  })
  for (const [file, type, size] of [
    ['sunrise.jpg', 'image/jpeg', 6500],
    ['notes.txt', 'text/plain', 1500],
  ] as const) {
    await admin.post(`${context}?id=${size}`)
    const headers = { 'content-type': type, 'content-disposition': `attachment; filename="${file}"` }
    await admin.ask(`${context}/resource/${size}`, { method: 'PUT', body: 'x'.repeat(size), headers })
  }
}

const looks = [
  { look: 'desktop-light', ...desktop, colorScheme: 'light', locale: 'en-GB' },
  { look: 'phone-dark', ...phone, colorScheme: 'dark', locale: 'sv-SE' },
  { look: 'zoomed-forced', ...zoomed, forcedColors: 'active', locale: 'de-DE' },
] as const

for (const { look, ...options } of looks) {
  inBrowser(`every page is accessible and fits the window: ${look}`, async b => {
    const { page, complaints, close } = await newPerson(b, { ...options, refusals: [400, 401] })
    const judge = async (title: string): Promise<void> => {
      await requireAccessible(page)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      assert.ok(overflow <= 0, `${title} is ${overflow} pixels too wide`)
      await picture(page, `${title}-${look}`)
    }
    await page.goto(`${service.base}auth/login`)
    await judge('sign-in')
    await page.fill('[name=auth_username]', name)
    await page.fill('[name=auth_password]', 'wrong')
    await page.click('form button')
    await page.waitForSelector('[role=alert]')
    await judge('sign-in-refused')
    await page.goto(`${service.base}auth/pwreset`)
    await judge('forgot')
    await page.goto(`${service.base}auth/pwreset?token=x`)
    await judge('reset-link-gone')
    await page.goto(`${service.base}auth/cas?again`)
    await judge('refusal')

    await enter(page, service.base, name, GOOD_PASSWORD)
    await page.waitForSelector('.tile')
    await judge('home')
    await page.goto(`${service.base}ui/account`)
    await page.waitForSelector('tbody tr')
    await page.fill('[autocomplete=new-password]', 'Abcdefg1')
    await judge('account')
    await page.goBack()
    await page.locator('.tile').filter({ hasText: 'Holiday' }).locator('a').click()
    await page.waitForSelector('tbody .menu')
    // Each look has files of its own: for a name that exists the page would ask.
    const small = join(folder, `harbour-${look}.png`)
    const large = join(folder, `film-${look}.mp4`)
    await writeFile(small, 'x'.repeat(5000))
    await writeFile(large, 'x'.repeat(90_000))
    await page.setInputFiles('input[type=file]', [small, large])
    await page.waitForSelector('.tray')
    await page.waitForSelector('.upload .error')
    await page.waitForSelector('.upload .good')
    await judge('uploads')
    // The list has been loaded again when the uploaded file is in it.
    await page
      .getByRole('row')
      .filter({ hasText: `harbour-${look}.png` })
      .waitFor()
    if (look !== 'desktop-light') await page.locator('.files-bar .select').click()
    await page.locator('tbody .check input').first().check()
    await judge('files')
    await page.locator('tbody .menu button').first().click()
    await judge('menu')
    // Rename; its text depends on the language.
    await page.locator('[role=menuitem]').nth(3).click()
    await page.getByRole('dialog').waitFor()
    await judge('dialog')
    await page.keyboard.press('Escape')
    // A message may lie on a row; while items are selected, a tap on a name selects it.
    await page.locator('.toast button:last-child').evaluateAll(buttons => {
      for (const button of buttons) (button as HTMLElement).click()
    })
    await page.locator('.selection button').last().click()
    await page.locator('tbody th.name a').filter({ hasText: 'notes' }).click()
    await page.waitForSelector('pre.preview')
    await judge('preview')
    await page.keyboard.press('Escape')
    await page.goto(`${service.base}ui/shared-by-me`)
    await page.waitForSelector('.empty')
    await judge('shared-by-me')
    await page.goto(`${service.base}ui/contexts/${ids[0]}/files?item=6500&tab=access`)
    await page.waitForSelector('[role=tabpanel] tbody tr')
    await judge('sharing-of-a-file')
    await page.goto(`${service.base}ui/nowhere`)
    await page.waitForSelector('h1')
    await judge('not-found')
    await page.goto(`${service.base}auth/login`)
    await judge('signed-in')
    assert.deepEqual(complaints, [])
    await close()
  })
}

inBrowser('pages do not jump while they load: the layout shift stays below 0.05', async b => {
  for (const [who, password, pages] of [
    [
      name,
      GOOD_PASSWORD,
      [
        ['ui/', '.tile'],
        ['ui/account', '.rules'],
        ['ui/shared', '.empty'],
        [`ui/contexts/${ids[0]}/files`, 'tbody th.name a'],
      ],
    ],
    ['admin', ADMIN_PASSWORD, [['ui/admin', '.chart canvas']]],
  ] as const) {
    const { page, complaints, close } = await newPerson(b, desktop)
    await enter(page, service.base, who, password)
    await watchShifts(page)
    for (const [path, sign] of pages) {
      await page.goto(service.base + path)
      await page.locator(sign).first().waitFor()
      await page.locator('.spinner').first().waitFor({ state: 'detached' })
      const sum = await shiftOf(page)
      assert.ok(sum < 0.05, `${path}: ${sum}`)
    }
    assert.deepEqual(complaints, [])
    await close()
  }
})

inBrowser(
  'resetting a forgotten password by mail: the page lists the rules and names the one that was broken',
  async b => {
    const person = await addUser(admin, 'frida@example.org')
    const { page, complaints, close } = await newPerson(b, { refusals: [400] })
    await page.goto(`${service.base}auth/login`)
    await page.click('text=Forgot your password?')
    await page.fill('[name=email]', person.name)
    await page.click('form button')
    await page.waitForSelector('text=an e-mail with a link is on its way')
    await page.goto(linkOf(await smtp.take(person.name)).link)
    assert.match(await page.innerText('#rules'), /at least 10 characters[^]*a digit/)
    await page.fill('[name=password]', 'abcdefghijkl')
    await page.click('form button')
    await page.waitForSelector('[role=alert]')
    assert.match(await page.innerText('[role=alert]'), /an upper-case letter\s+a digit/)
    await requireAccessible(page)
    await page.fill('[name=password]', 'Brand-New-Word-1')
    await page.click('form button')
    await page.waitForSelector('text=Your new password is set')
    await page.click('main a')
    await page.waitForSelector('[name=auth_password]')
    assert.deepEqual(complaints, [])
    await close()
    assert.equal((await service.visitor().signIn(person.name, 'Brand-New-Word-1')).status, 200)
  },
)
