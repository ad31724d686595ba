import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD, NEXT_PASSWORD, WRONG_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { newContext, startInProcess } from '../support/service.ts'
import { newPerson, openBrowser, sendPassword, enter } from '../support/ui.ts'
import { until } from '../support/waiting.ts'

const settings = { 'service.data.quota': 'on', 'service.auth.password.rule.custom.1': '[-+]' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
const inBrowser = await openBrowser()

let users = 0
const newUser = () => addUser(admin, `person${++users}@example.org`)

inBrowser('the account page shows the user; a change of language takes effect at once and is kept', async b => {
  const { id, name } = await newUser()
  const context = await newContext(admin, [id])
  await admin.put(`_principals/resource/${id}`, { homecontext: context })
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, name, GOOD_PASSWORD)
  await page.goto(`${service.base}ui/account`)
  await page.waitForSelector('.facts')
  assert.equal(await page.title(), 'My account – Stowage')
  assert.match(await page.innerText('.facts'), new RegExp(`${name}[^]*${context}`))
  await page.selectOption('select', 'sv')
  // The message is in the new language as well.
  await Promise.all([
    page.waitForSelector('h1:text("Mitt konto")'),
    page.locator('.toast').filter({ hasText: 'Sparat.' }).waitFor(),
  ])
  assert.equal(await page.getAttribute('html', 'lang'), 'sv')
  await page.reload()
  await page.waitForSelector('h1:text("Mitt konto")')
  assert.equal((await admin.get(`_principals/resource/${id}`)).json()['language'], 'sv')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('users edit their own full name and e-mail address, and other metadata are kept', async b => {
  const { id, name } = await newUser()
  const path = `_principals/metadata/${id}`
  const subject = `${service.base}_principals/resource/${id}`
  const kept = { 'http://purl.org/dc/terms/description': [{ type: 'literal', value: 'kept' }] }
  assert.equal((await admin.put(path, { [subject]: kept })).status, 204)
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, name, GOOD_PASSWORD, 'ui/account')
  await page.getByLabel('Full name').fill('Anna Ek')
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('anna@home.example')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=Saved.')
  assert.match(
    (await admin.get(path)).text,
    /Anna Ek[^]*mailto:anna@home\.example|mailto:anna@home\.example[^]*Anna Ek/,
  )
  await page.reload()
  await page.getByLabel('Full name').fill('')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=Saved.')
  const { text } = await admin.get(path)
  assert.doesNotMatch(text, /Anna Ek/)
  assert.match(text, /kept/)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'a new password is checked while the user types, rejected with a reason, and set when it is valid',
  async b => {
    const { name } = await newUser()
    const { page, complaints, close } = await newPerson(b, { refusals: [400, 403] })
    await enter(page, service.base, name, GOOD_PASSWORD)
    await page.goto(`${service.base}ui/account`)
    const [current, next, repeated] = [
      page.getByLabel('Current password'),
      page.getByLabel('New password', { exact: true }),
      page.getByLabel('Repeat new password'),
    ]
    const save = page.getByRole('button', { name: 'Change password' })
    const kept = (expected: readonly string[]) =>
      until(
        () => page.locator('.rules .kept').allInnerTexts(),
        found => JSON.stringify(found) === JSON.stringify(expected),
      )
    await next.fill('abc')
    await kept(['a lower-case letter'])
    await next.fill('abcABC1234')
    await kept(['at least 10 characters', 'a lower-case letter', 'an upper-case letter', 'a digit'])
    assert.match(await page.innerText('.rules .unknown'), /matches the pattern \[-\+\].*checked when you save/)

    await current.fill(GOOD_PASSWORD)
    await repeated.fill('something else')
    await save.click()
    await page.waitForSelector('text=The two passwords differ')
    await repeated.fill('abcABC1234')
    await save.click()
    await page.waitForSelector('text=The password does not follow the rules')
    assert.match(await page.innerText('.rules .broken'), /pattern/)

    await current.fill(WRONG_PASSWORD)
    await next.fill(NEXT_PASSWORD)
    await repeated.fill(NEXT_PASSWORD)
    await save.click()
    await page.waitForSelector('text=The current password is wrong')
    assert.equal(await current.getAttribute('aria-invalid'), 'true')
    await current.fill(GOOD_PASSWORD)
    await save.click()
    await page.waitForSelector('text=Password changed.')
    await until(
      () => next.inputValue(),
      value => value === '',
    )
    await page.reload()
    await page.waitForSelector('h1:text("My account")')
    assert.equal((await service.visitor().signIn(name, NEXT_PASSWORD)).status, 200)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'all sessions are listed with the current one marked; the user ends one of them, then all others (D3.2, D3.3)',
  async b => {
    const { name } = await newUser()
    const others = [service.visitor(), service.visitor(), service.visitor()]
    const agents = ['curl/8.5', 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0', 'Thing']
    for (const [index, other] of others.entries()) {
      const form = { auth_username: name, auth_password: GOOD_PASSWORD }
      await other.ask('auth/cookie', { form, headers: { 'user-agent': agents[index] } })
    }
    const { page, complaints, close } = await newPerson(b)
    await enter(page, service.base, name, GOOD_PASSWORD)
    await page.goto(`${service.base}ui/account`)
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    await rows.nth(3).waitFor()
    assert.equal(await rows.count(), 4)
    assert.match(await rows.first().innerText(), /Chrome on Linux this session/)
    assert.equal(await page.getByText('this session', { exact: true }).count(), 1)

    await page.getByRole('button', { name: 'End session: Firefox on Windows' }).click()
    await page.waitForSelector('text=Session ended.')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 3)
    const who = () => Promise.all(others.map(async other => (await other.get('auth/user')).json()['user']))
    assert.deepEqual(await who(), [name, 'guest', name])

    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(await who(), [name, 'guest', name], 'nothing ends without a yes')
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await dialog.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)
    assert.deepEqual(await who(), ['guest', 'guest', 'guest'])
    await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/auth\/login/)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('contexts that the user can write to show their quota as a bar and as text (I2.6)', async b => {
  const { id, name } = await newUser()
  const [roomy, full, free] = [
    await newContext(admin, [id]),
    await newContext(admin, [id]),
    await newContext(admin, [id]),
  ]
  await newContext(admin)
  for (const [context, size] of [
    [roomy, 512],
    [full, 2048],
  ] as const) {
    await admin.put(`${context}/quota`, { quota: 2048 })
    await admin.post(`${context}?id=file`)
    await admin.ask(`${context}/resource/file`, { method: 'PUT', body: 'x'.repeat(size) })
  }
  const { page, complaints, close } = await newPerson(b)
  await enter(page, service.base, name, GOOD_PASSWORD)
  await page.waitForSelector('.tile')
  const tile = (context: string) => page.locator('.tile').filter({ has: page.locator(`a[href$="/${context}/files"]`) })
  assert.equal(await page.locator('.tile').count(), 3)
  assert.match(await tile(roomy).innerText(), /512 B of 2 KiB used, 1.5 KiB free/)
  assert.equal(await tile(roomy).getByRole('meter').getAttribute('aria-valuenow'), '25')
  assert.match(await tile(full).innerText(), /2 KiB of 2 KiB used, 0 B free/)
  assert.match(await tile(free).innerText(), /0 B used, no limit/)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('with quotas off, the account page shows no bars and no errors', async b => {
  const plain = await startInProcess({ after })
  const { page, complaints, close } = await newPerson(b)
  const root = await plain.admin()
  const { id, name } = await addUser(root, 'otto@example.org')
  await newContext(root, [id])
  await enter(page, plain.base, name, GOOD_PASSWORD)
  await page.click('.tile a')
  await page.waitForSelector('text=No files yet')
  assert.equal(await page.getByRole('meter').count(), 0)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'by keyboard alone: skip to the content, move along the navigation bar, open another page; its heading has the focus',
  async b => {
    const { id, name } = await newUser()
    await newContext(admin, [id])
    const { page, complaints, close } = await newPerson(b)
    await page.goto(`${service.base}auth/login`)
    await page.waitForSelector('[name=auth_username]:focus')
    await page.keyboard.type(name)
    await page.keyboard.press('Tab')
    await page.keyboard.type(GOOD_PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForSelector('.tile')
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).innerText.trim())
    await page.keyboard.press('Tab')
    assert.equal(await focused(), 'Skip to content')
    await page.keyboard.press('Enter')
    // The tabs of the page come first.
    for (let tab = 0; tab < 4; tab++) await page.keyboard.press('Tab')
    const context = await focused()
    await page.keyboard.press('Enter')
    await page.waitForSelector('.files-bar')
    assert.equal(await focused(), context)
    assert.equal(await page.title(), `${context} – Stowage`)
    await page.goBack()
    await page.waitForSelector('.tile')
    assert.equal(await focused(), 'My files')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('input of other users is shown as text, never as markup: names, titles, user agents, files', async b => {
  const evil = (where: string): string => `<img src=x onerror="document.title='${where}'">${where}`
  const { id, name } = await addUser(admin, evil('name').toLowerCase())
  const context = await newContext(admin, [id])
  const title = [{ type: 'literal', value: evil('title') }]
  await admin.put(`_contexts/metadata/${context}`, {
    [`${service.base}${context}`]: { 'http://purl.org/dc/terms/title': title },
  })
  await admin.post(`${context}?id=evil`)
  await admin.ask(`${context}/resource/evil`, {
    method: 'PUT',
    body: 'x',
    headers: { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(evil('file'))}` },
  })
  await service.visitor().ask('auth/cookie', {
    form: { auth_username: name, auth_password: GOOD_PASSWORD },
    headers: { 'user-agent': evil('agent') },
  })
  const { page, complaints, close } = await newPerson(b)
  await page.goto(`${service.base}auth/login`)
  await sendPassword(page, name, GOOD_PASSWORD)
  await page.waitForSelector('.tile')
  assert.ok((await page.innerText('body')).includes(evil('title')))
  await page.goto(`${service.base}ui/account`)
  await page.waitForSelector('tbody tr')
  assert.ok((await page.innerText('.facts')).includes(name))
  await page.goBack()
  await page.click('.tile a')
  await page.waitForSelector('tbody tr')
  assert.ok((await page.innerText('tbody')).includes(evil('file')))
  await page.getByRole('button', { name: 'Actions for' }).click()
  await page.getByRole('menuitem', { name: 'Details' }).click()
  await page.getByRole('dialog').waitFor()
  assert.equal(await page.locator('img:not(.brand img)').count(), 0)
  assert.match(await page.title(), /^<img/)
  assert.deepEqual(complaints, [])
  await close()
})
