import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { addUser, GOOD_PASSWORD, guess, NEXT_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Chromium } from '../support/peers/chromium.ts'
import { ADMIN_PASSWORD, newContext, startInProcess } from '../support/service.ts'
import { newPerson, openBrowser, type Person, enter } from '../support/ui.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const inBrowser = await openBrowser()

const visit = (page: Page, path: string) => page.goto(`${service.base}ui/${path}`)
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const said = (page: Page, text: string) => page.locator('.toast').filter({ hasText: text }).waitFor()
const resourceOf = async (id: string) => (await admin.get(`_principals/resource/${id}`)).json()
const whoIs = async (visitor: typeof admin) => (await visitor.get('auth/user')).json()['user']

async function asAdmin(b: Chromium, refusals: readonly number[] = []): Promise<Person> {
  const person = await newPerson(b, { refusals })
  await enter(person.page, service.base, 'admin', ADMIN_PASSWORD)
  return person
}

inBrowser(
  'an administrator creates a user by keyboard, finds, disables and enables them, and sets another password',
  async b => {
    const { page, complaints, close } = await asAdmin(b, [400, 409])
    await addUser(admin, 'taken@example.org')
    await page.getByRole('link', { name: 'Administration' }).click()
    await page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: 'Users' }).click()
    await button(page, 'New user').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').locator('form').waitFor()
    await page.getByLabel('User name', { exact: true }).focus()
    await page.keyboard.type('taken@example.org')
    await page.getByLabel('New password', { exact: true }).focus()
    await page.keyboard.type('short')
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog .rules .broken')
    await page.waitForSelector('dialog .error')
    await page.getByLabel('New password', { exact: true }).fill(GOOD_PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog .error:text("This name is taken.")')
    await page.getByLabel(/^Temporary/).uncheck()
    await page.getByLabel('User name', { exact: true }).fill('nils@example.org')
    await page.keyboard.press('Enter')
    await page.waitForSelector('h1:text("nils@example.org")')
    const id = decodeURIComponent(page.url().split('/').at(-1) ?? '')
    const nils = service.visitor()
    assert.equal((await nils.signIn('nils@example.org', GOOD_PASSWORD)).status, 200)

    await button(page, 'Actions for nils@example.org').click()
    await page.getByRole('menuitem', { name: 'Disable user' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable user' }).click()
    await said(page, 'disabled and signed out everywhere')
    await page.waitForSelector('.badge.bad')
    assert.equal((await resourceOf(id))['disabled'], true)
    assert.equal(await whoIs(nils), 'guest')
    await button(page, 'Actions for nils@example.org').click()
    await page.getByRole('menuitem', { name: 'Enable user' }).click()
    await said(page, 'nils@example.org enabled.')
    assert.equal((await resourceOf(id))['disabled'], undefined)

    await page.getByRole('link', { name: 'Sign-in', exact: true }).click()
    await page.getByLabel('New password', { exact: true }).fill('weak')
    await button(page, 'Set password').click()
    await page.waitForSelector('text=The password does not follow the rules')
    await page.getByLabel('New password', { exact: true }).fill(NEXT_PASSWORD)
    await page.getByLabel(/^Temporary/).uncheck()
    await button(page, 'Set password').click()
    await said(page, 'Password set.')
    assert.equal((await nils.signIn('nils@example.org', NEXT_PASSWORD)).status, 200)

    await visit(page, 'admin/users')
    await page.getByLabel('Search by name or ID').fill('NILS')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)
    await page.reload()
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)
    assert.match(await page.innerText('tbody'), /nils@example\.org/)
    await page.getByLabel('Search by name or ID').fill('nobody of that name')
    await page.waitForSelector('text=Nothing found.')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('an administrator sees the sessions of a user, ends one, then all', async b => {
  const { page, complaints, close } = await asAdmin(b)
  const { id, name } = await addUser(admin, 'leo@example.org')
  const [phone, laptop, other] = [service.visitor(), service.visitor(), service.visitor()]
  for (const [visitor, agent] of [
    [phone, 'Phone/1'],
    [laptop, 'Laptop/1'],
    [other, 'Other/1'],
  ] as const) {
    const form = { auth_username: name, auth_password: GOOD_PASSWORD }
    await visitor.ask('auth/cookie', { form, headers: { 'user-agent': agent } })
  }
  await visit(page, `admin/users/${id}?tab=sign-in`)
  const sessions = page.getByRole('region', { name: 'Sessions' }).locator('tbody tr')
  await button(page, 'End session: Phone').click()
  await sessions.filter({ hasText: 'Phone' }).waitFor({ state: 'detached' })
  assert.equal(await sessions.count(), 2)
  assert.deepEqual([await whoIs(phone), await whoIs(laptop), await whoIs(other)], ['guest', name, name])
  await button(page, 'End all sessions').click()
  await page.getByRole('dialog').getByRole('button', { name: 'End all sessions' }).click()
  await page.waitForSelector('text=Not signed in anywhere.')
  assert.deepEqual([await whoIs(laptop), await whoIs(other)], ['guest', 'guest'])
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'locked users are listed with the end of the lock, and unlocked from the list or from their page (D6.5)',
  async b => {
    const { page, complaints, close } = await asAdmin(b)
    const [one, two] = [await addUser(admin, 'lock1@example.org'), await addUser(admin, 'lock2@example.org')]
    for (const { name } of [one, two]) await guess(service.visitor(), name, 5)
    await visit(page, 'admin/lockouts')
    const row = page.locator('tbody tr').filter({ hasText: one.name })
    assert.match(await row.innerText(), /5/)
    await button(page, `Unlock ${one.name}`).click()
    await row.waitFor({ state: 'detached' })
    assert.equal((await service.visitor().signIn(one.name, GOOD_PASSWORD)).status, 200)
    await page.getByRole('link', { name: two.name }).click()
    await page.locator('.badge.warn').first().waitFor()
    await button(page, `Actions for ${two.name}`).click()
    await page.getByRole('menuitem', { name: 'Unlock' }).click()
    await page.locator('.badge.warn').first().waitFor({ state: 'detached' })
    assert.equal((await service.visitor().signIn(two.name, GOOD_PASSWORD)).status, 200)
    await visit(page, 'admin/lockouts')
    await page.waitForSelector('text=No user is locked out.')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'an administrator creates a group, adds members by name and removes them; an invalid member is explained',
  async b => {
    const { page, complaints, close } = await asAdmin(b, [400, 404])
    const { id, name } = await addUser(admin, 'mia@example.org')
    await visit(page, 'admin/groups')
    await button(page, 'New group').click()
    await page.getByRole('dialog').getByLabel('Group').fill('sailors')
    await button(page, 'Create group').click()
    await page.waitForSelector('h1:text("sailors")')
    const group = page.url().split('/').at(-1) ?? ''
    const field = page.getByLabel('Add member (user name)')
    for (const [typed, problem] of [
      ['nobody@example.org', 'There is no user or group with this name.'],
      ['sailors', 'Only users can be members.'],
    ] as const) {
      await field.fill(typed)
      await button(page, 'Add').click()
      await page.waitForSelector(`.error:text("${problem}")`)
    }
    await field.fill(name)
    await button(page, 'Add').click()
    await page.waitForSelector('tbody tr')
    const members = async () =>
      (await admin.get(`_principals/resource/${group}`))
        .json<{ children: { entryId: string }[] }>()
        .children.map(({ entryId }) => entryId)
    assert.deepEqual(await members(), [id])
    await button(page, `Remove ${name}`).click()
    await page.waitForSelector('text=The group has no members yet.')
    assert.deepEqual(await members(), [])
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'audit events are filtered by user and kind and loaded page by page; the filter is part of the URL',
  async b => {
    const { page, complaints, close } = await asAdmin(b)
    const { id, name } = await addUser(admin, 'eventful@example.org')
    for (let count = 0; count < 60; count++)
      await admin.put(`_principals/resource/${id}`, { disabled: count % 2 === 0 })
    await visit(page, `admin/users/${id}?tab=activity`)
    await page.getByRole('link', { name: 'Audit log of this user' }).click()
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 50)
    assert.match(await page.innerText('tbody tr >> nth=0'), new RegExp(`admin enabled ${name}\\.`))
    await button(page, 'Next').click()
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 11)
    await page.getByLabel('Kind of event').selectOption('user-created')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)
    await page.reload()
    await page.waitForSelector('tbody tr')
    assert.equal(await page.locator('tbody tr').count(), 1)
    await page.getByLabel('User (name or ID)').fill('VENTFU')
    await page.waitForURL(/user=VENTFU/)
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)
    const saving = page.waitForEvent('download')
    await button(page, 'Export as CSV').click()
    const csv = await readFile(await (await saving).path(), 'utf8')
    assert.match(csv, /^"time","event","userId","userName","actorId","address","detail"\r\n"[^"]+","user-created",/)
    assert.equal(csv.split('\r\n').length, 3)
    const saved = page.waitForEvent('download')
    await button(page, 'Export as JSON Lines').click()
    const lines = (await readFile(await (await saved).path(), 'utf8')).trimEnd().split('\n')
    assert.deepEqual(
      lines.map(line => (JSON.parse(line) as { readonly event: string }).event),
      ['user-created'],
    )
    await page.getByLabel('From').fill('2099-01-01T00:00')
    await page.waitForSelector('text=Nothing found.')
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('a user without administrator rights sees no administration page, and the reason', async b => {
  const { id, name } = await addUser(admin, 'plain@example.org')
  const { page, complaints, close } = await newPerson(b, { refusals: [403] })
  await enter(page, service.base, name, GOOD_PASSWORD)
  assert.equal(await page.getByRole('link', { name: 'Administration' }).count(), 0)
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  for (const path of ['admin', 'admin/users', `admin/users/${id}`, 'admin/contexts/1', 'admin/audit']) {
    await visit(page, path)
    await page.waitForSelector('text=This page is for administrators.')
  }
  assert.deepEqual(
    asked.filter(url => url.includes('/management/')),
    [],
  )
  await admin.put('_principals/resource/_admins', [id])
  await visit(page, 'admin/users')
  await page.waitForSelector('tbody tr')
  await admin.put('_principals/resource/_admins', [])
  await page.getByLabel('Search by name or ID').fill('x')
  await page.waitForSelector('[role=alert]:has-text("You do not have permission to do this.")')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('markup in names, titles, user agents and events is shown as text everywhere', async b => {
  const evil = (where: string): string => `<img src=x onerror="document.title='${where}'">${where}`
  const user = await addUser(admin, evil('user'))
  const made = await admin.post('_principals?graphtype=group', { resource: { name: evil('group') } })
  const group = made.json<{ entryId: string }>().entryId
  await admin.put(`_principals/resource/${group}`, [user.id])
  const context = await newContext(admin, [user.id, group])
  assert.equal((await admin.put(context, { alias: evil('alias') })).status, 200)
  await admin.put(`_contexts/metadata/${context}`, {
    [`${service.base}${context}`]: {
      'http://purl.org/dc/terms/title': [{ type: 'literal', value: evil('title') }],
    },
  })
  const headers = { 'user-agent': evil('agent') }
  await service
    .visitor()
    .ask('auth/cookie', { form: { auth_username: user.name, auth_password: GOOD_PASSWORD }, headers })
  await admin.put(`_principals/resource/${user.id}`, { name: `${evil('user')}2`, homecontext: context })
  const locked = await addUser(admin, evil('locked'))
  await guess(service.visitor(), locked.name, 5)
  const { page, complaints, close } = await asAdmin(b)
  for (const [path, text] of [
    [`admin/users?query=${encodeURIComponent('onerror')}`, evil('user')],
    [`admin/users/${user.id}`, evil('user')],
    ['admin/groups', evil('group')],
    [`admin/groups/${group}`, evil('user')],
    ['admin/contexts', evil('alias')],
    [`admin/contexts/${context}`, evil('group')],
    ['admin/lockouts', evil('locked')],
    [`admin/audit?user=${user.id}`, evil('user')],
  ] as const) {
    await visit(page, path)
    await page.locator('main').filter({ hasText: text }).waitFor()
    await page.locator('.spinner').first().waitFor({ state: 'detached' })
    assert.ok((await page.innerText('main')).includes(text), path)
    assert.equal(await page.locator('img:not(.brand img)').count(), 0, path)
    assert.match(await page.title(), / – Stowage$/, path)
  }
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'users, groups and contexts are renamed and deleted; the dialog names what is deleted with them and asks for the name',
  async b => {
    const { page, complaints, close } = await asAdmin(b, [404])
    const user = await addUser(admin, 'gone@example.org')
    const group = (await admin.post('_principals?graphtype=group', { resource: { name: 'leavers' } })).json<{
      entryId: string
    }>()
    await admin.put(`_principals/resource/${group.entryId}`, [user.id])
    const context = await newContext(admin)
    await admin.put(context, { alias: 'doomed' })
    await visit(page, `admin/users/${user.id}?tab=access`)
    await page.locator('tbody tr').filter({ hasText: 'leavers' }).waitFor()
    await page.getByRole('link', { name: 'Profile', exact: true }).click()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), user.name)
    await page.getByLabel('Name', { exact: true }).fill('renamed@example.org')
    await button(page, 'Rename').click()
    await page.waitForSelector('h1:text("renamed@example.org")')
    for (const [path, name, what] of [
      [`admin/users/${user.id}`, 'renamed@example.org', 'Delete user'],
      [`admin/groups/${group.entryId}`, 'leavers', 'Delete group'],
      [`admin/contexts/${context}`, 'doomed', 'Delete space'],
    ] as const) {
      await visit(page, path)
      if (what === 'Delete user') {
        await button(page, `Actions for ${name}`).click()
        await page.getByRole('menuitem', { name: what }).click()
      } else await button(page, what).click()
      const dialog = page.getByRole('dialog', { name: what })
      await dialog.getByLabel(`Type ${name} to confirm`).fill('something else')
      assert.equal(await dialog.getByRole('button', { name: what }).isDisabled(), true)
      await dialog.getByLabel(`Type ${name} to confirm`).fill(name)
      await page.keyboard.press('Enter')
      await said(page, `${name} deleted.`)
    }
    assert.equal((await admin.get(`_principals/entry/${user.id}`)).status, 404)
    assert.equal((await admin.get(`_principals/entry/${group.entryId}`)).status, 404)
    assert.equal((await admin.get(`_contexts/entry/${context}`)).status, 404)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('a generated password meets the rules, is copied to the clipboard and works', async b => {
  const { page, complaints, close } = await asAdmin(b)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const user = await addUser(admin, 'generated@example.org')
  await visit(page, `admin/users/${user.id}?tab=sign-in`)
  await button(page, 'Generate password').click()
  await page.waitForSelector('text=Copy the password now')
  await button(page, 'Copy').click()
  await said(page, 'Copied.')
  const password = await page.evaluate(() => navigator.clipboard.readText())
  assert.equal(password.length, 20)
  await page.getByLabel(/^Temporary/).uncheck()
  await button(page, 'Set password').click()
  await said(page, 'Password set.')
  assert.equal((await service.visitor().signIn(user.name, password)).status, 200)
  assert.deepEqual(complaints, [])
  await close()
})
