import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { firefox, startFirefox } from '../support/peers/firefox.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { ADMIN_PASSWORD, newContext } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

// The most important tasks in another browser. What differs between browsers is the engine, so each task is done once.

const { service, admin, id, name, fileOf, store } = await startFilesService()

test('in Firefox: sign in, upload a file, find it, look at it, sign out', async t => {
  if (!requirePeer(t, firefox)) return
  const page = await startFirefox(t)
  const context = await newContext(admin, [id])
  await admin.put(context, { alias: 'harbour' })
  await page.goto(service.base)
  await page.typeInto('[name=auth_username]', name)
  await page.typeInto('[name=auth_password]', GOOD_PASSWORD)
  await page.press('\uE007')
  await page.click('link', 'harbour')
  await eventually('the files', async () => (await page.url()).endsWith(`/contexts/${context}/files`))
  await page.choose('input[type=file]', [await fileOf('tides.txt', 2000)])
  await page.shows('tides.txt')
  await eventually('the file in the store', async () => (await admin.get(context)).json<string[]>().length === 1)
  const drawing =
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><style>rect { fill: rgb(0, 128, 0) }</style><rect width="9" height="9"/></svg>'
  const plan = await store(context, 'plan.svg', drawing, 'image/svg+xml')
  await page.goto(`${service.base}ui/contexts/${context}/files?item=${plan}`)
  assert.equal(await page.colourOf('img.drawing'), '0 128 0')
  await page.goto(`${service.base}ui/`)
  await page.shows('Continue')
  await page.shows('tides.txt')
  await page.click('button', 'Sign out')
  await eventually('the sign-in page', async () => (await page.url()).includes('auth/login'))
  assert.deepEqual(page.complaints, [])
})

test('in Firefox: an administrator creates a user with a space', async t => {
  if (!requirePeer(t, firefox)) return
  const page = await startFirefox(t)
  await page.goto(`${service.base}auth/login`)
  await page.typeInto('[name=auth_username]', 'admin')
  await page.typeInto('[name=auth_password]', ADMIN_PASSWORD)
  await page.press('\uE007')
  await page.click('link', 'Administration')
  await page.shows('Everything works.')
  await page.click('link', 'Users')
  await page.click('button', 'New user')
  await page.type('User name', 'cleo@example.org')
  await page.type('Full name', 'Cleo Berg')
  await page.click('button', 'Create user')
  await page.shows('User cleo@example.org created.')
  await page.click('link', 'Access')
  await page.shows('Cleo Berg')
  const { users } = (await admin.get('management/users?query=cleo')).json<{
    users: ReadonlyArray<{ homecontext?: string }>
  }>()
  assert.ok(users[0]?.homecontext !== undefined)
  assert.deepEqual(page.complaints, [])
})
