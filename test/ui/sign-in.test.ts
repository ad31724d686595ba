import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD, WRONG_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { newContext, startInProcess } from '../support/service.ts'
import { newPerson, openBrowser, picture, requireAccessible, sendPassword, signIn } from '../support/ui.ts'

const service = await startInProcess({ after }, { settings: { 'service.auth.temp.lockout.duration': '60s' } })
const admin = await service.admin()
const inBrowser = await openBrowser()

inBrowser(
  'the fifth wrong password locks the user; the page shows it, counts down and allows another attempt (D6.1)',
  async b => {
    const { name } = await addUser(admin, 'lara@example.org')
    const { page, complaints, close } = await newPerson(b, { refusals: [401, 429] })
    await page.clock.install()
    await page.goto(`${service.base}auth/login`)
    for (let count = 1; count <= 5; count++) {
      await sendPassword(page, name, WRONG_PASSWORD)
      // The alert of the page before is marked below.
      await page.waitForSelector('[role=alert]:not([data-seen])')
      assert.match((await page.textContent('[role=alert]')) ?? '', /user name or the password is wrong/)
      assert.equal(await page.inputValue('[name=auth_username]'), name, 'what was typed is kept, but for the password')
      assert.equal(await page.inputValue('[name=auth_password]'), '')
      await page.locator('[role=alert]').evaluate(alert => alert.setAttribute('data-seen', ''))
    }
    await sendPassword(page, name, GOOD_PASSWORD)
    await page.waitForSelector('form button:disabled')
    assert.match(
      (await page.textContent('[role=alert]')) ?? '',
      /Too many wrong passwords. Try again in (0:[0-5]\d|1:00)/,
    )
    await requireAccessible(page)
    await picture(page, 'sign-in-locked')
    service.system.pass(60_000)
    await page.clock.fastForward(60_000)
    await page.waitForSelector('text=You can try again now')
    assert.equal(await page.isDisabled('form button'), false)
    await page.fill('[name=auth_password]', GOOD_PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${service.base}ui/`)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('without JavaScript, users sign in, see errors, and sign out', async b => {
  const { name } = await addUser(admin, 'nora@example.org')
  const { page, complaints, close } = await newPerson(b, { javaScriptEnabled: false, refusals: [401] })
  await page.goto(`${service.base}auth/login`)
  await sendPassword(page, name, WRONG_PASSWORD)
  assert.match((await page.textContent('[role=alert]')) ?? '', /is wrong/)
  await page.fill('[name=auth_password]', GOOD_PASSWORD)
  await page.click('form button')
  await page.waitForURL(`${service.base}ui/`)
  await page.click('noscript a')
  assert.match((await page.textContent('main')) ?? '', /signed in as nora@example.org/)
  await page.click('text=Sign out')
  await page.waitForSelector('[name=auth_password]')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('only the right password reveals on the page that an account is disabled (D2.2)', async b => {
  const { id, name } = await addUser(admin, 'dora@example.org')
  await admin.put(`_principals/resource/${id}`, { disabled: true })
  const { page, complaints, close } = await newPerson(b, { refusals: [401, 403] })
  await page.goto(`${service.base}auth/login`)
  await sendPassword(page, name, WRONG_PASSWORD)
  assert.match((await page.textContent('[role=alert]')) ?? '', /is wrong/)
  await sendPassword(page, name, GOOD_PASSWORD)
  await page.locator('[role=alert]').filter({ hasText: 'disabled' }).waitFor()
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a guest is sent to the sign-in page, and afterwards to the requested page', async b => {
  const { name } = await addUser(admin, 'vera@example.org')
  const { page, complaints, close } = await newPerson(b)
  await page.goto(`${service.base}ui/nowhere`)
  await page.waitForURL(/auth\/login/)
  assert.equal(await page.locator('[role=status]').count(), 0, 'there was no session that could have ended')
  await sendPassword(page, name, GOOD_PASSWORD)
  await page.waitForURL(`${service.base}ui/nowhere`)
  await page.waitForSelector('h1:text("Not found")')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'after the session was ended elsewhere, the user signs in on the page, and the pending change is made',
  async b => {
    const { id, name } = await addUser(admin, 'ella@example.org')
    const { page, complaints, close } = await newPerson(b, { refusals: [401] })
    await signIn(page, service.base, name, GOOD_PASSWORD)
    await page.goto(`${service.base}ui/account`)
    await page.waitForSelector('select')
    await admin.put(`_principals/resource/${id}`, { password: 'Another-Password-1' })
    await page.selectOption('select', 'sv')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Password').fill(GOOD_PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog .error')
    await dialog.getByLabel('Password').fill('Another-Password-1')
    await page.keyboard.press('Enter')
    await Promise.all([page.waitForSelector('text=Sparat.'), page.waitForSelector('h1:text("Mitt konto")')])
    await page.selectOption('select', '')
    await Promise.all([page.waitForSelector('h1:text("My account")'), page.waitForSelector('text=Saved.')])
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'users never see raw JSON: for an unknown address, a file without a session, Enter after a failed sign-in',
  async b => {
    const { id, name } = await addUser(admin, 'json@example.org')
    const context = await newContext(admin, [id])
    await admin.ask(`${context}?file&id=one`, {
      method: 'POST',
      body: 'hello',
      headers: { 'content-type': 'text/plain' },
    })
    const { page, complaints, close } = await newPerson(b, { refusals: [401, 404] })
    await page.goto(`${service.base}no/such/address`)
    assert.match(await page.innerText('main'), /This page or file does not exist/)
    await requireAccessible(page)
    await page.goto(`${service.base}${context}/resource/one`)
    await page.waitForURL(/auth\/login/)
    await sendPassword(page, name, WRONG_PASSWORD)
    await page.waitForSelector('[role=alert]')
    await sendPassword(page, name, GOOD_PASSWORD)
    await page.waitForURL(`${service.base}${context}/resource/one`)
    assert.equal(await page.innerText('body'), 'hello')
    await page.goto(`${service.base}auth/logout`)
    await sendPassword(page, name, WRONG_PASSWORD)
    await page.waitForSelector('[role=alert]')
    await page.goto(page.url())
    await page.waitForURL(`${service.base}auth/login`)
    await page.waitForSelector('[name=auth_password]')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('the sign-in page uses the language that the browser requests', async b => {
  const { page, close } = await newPerson(b, { locale: 'sv-SE', refusals: [401] })
  await page.goto(`${service.base}auth/login`)
  assert.equal(await page.getAttribute('html', 'lang'), 'sv')
  assert.equal(await page.textContent('h1'), 'Logga in')
  await sendPassword(page, 'nobody', WRONG_PASSWORD)
  assert.match((await page.textContent('[role=alert]')) ?? '', /Användarnamnet eller lösenordet är fel/)
  await close()
})

inBrowser('the sign-in page shows user input as text, never as markup', async b => {
  const { page, complaints, close } = await newPerson(b, { refusals: [401] })
  const evil = `"><img src=x onerror=alert(1)><script>alert(2)</script>'`
  await page.goto(`${service.base}auth/login?successurl=${encodeURIComponent(`/ui/"><b id=evil>`)}`)
  await sendPassword(page, evil, WRONG_PASSWORD)
  await page.waitForSelector('[role=alert]')
  assert.equal(await page.inputValue('[name=auth_username]'), evil)
  assert.equal(await page.locator('#evil, main script, main img').count(), 0)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('the password is shown on request; without scripts nothing offers that', async b => {
  const { name } = await addUser(admin, 'nils@example.org')
  const { page, complaints, close } = await newPerson(b)
  await page.goto(`${service.base}auth/login`)
  await page.fill('[name=auth_username]', name)
  await page.fill('[name=auth_password]', GOOD_PASSWORD)
  const type = (): Promise<string | null> => page.getAttribute('[name=auth_password]', 'type')
  await page.getByLabel('Show password').check()
  assert.equal(await type(), 'text')
  await requireAccessible(page)
  await page.getByLabel('Show password').uncheck()
  assert.equal(await type(), 'password')
  await page.getByLabel('Show password').check()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${service.base}ui/`)
  assert.deepEqual(complaints, [])
  const plain = await newPerson(b, { javaScriptEnabled: false })
  await plain.page.goto(`${service.base}auth/login`)
  assert.equal(await plain.page.getByLabel('Show password').isVisible(), false)
  await Promise.all([close(), plain.close()])
})
