import assert from 'node:assert/strict'
import { after } from '../support/after.ts'
import type { Page } from 'playwright-core'
import { passkeySettings } from '../support/passkeys.ts'
import type { Chromium } from '../support/peers/chromium.ts'
import { newUser, startInProcess } from '../support/service.ts'
import { enter, newPerson, openBrowser, requireAccessible, sendPassword } from '../support/ui.ts'

const service = await startInProcess({ after }, { settings: await passkeySettings() })
const { base } = service
const admin = await service.admin()
const inBrowser = await openBrowser()

/** A device with fingerprint reader: Chromium answers all its requests at once. */
async function addDevice(page: Page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    passkeys: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    /** Whether it answers requests at once; a request that came before is not answered later. */
    isTouched: (enabled: boolean) => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
    verifiesUser: (isUserVerified: boolean) =>
      cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    remove: () => cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }),
  }
}

type Device = Awaited<ReturnType<typeof addDevice>>

const whoIs = async (page: Page): Promise<unknown> =>
  ((await (await page.request.get(`${base}auth/user`)).json()) as Record<string, unknown>)['user']

/** Adds a passkey on the account page; the recovery codes are shown once. */
async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto(`${base}ui/account`)
  await page.getByRole('button', { name: 'Add passkey' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Add passkey' }).click()
}

/** Closes the dialog with the recovery codes. */
const closeCodes = (page: Page): Promise<void> =>
  page.getByRole('dialog', { name: 'Recovery codes' }).locator('button:not(.small)', { hasText: 'Close' }).click()

/** A new user with one passkey, in a browser without their session. */
async function signedOutWithPasskey(browser: Chromium) {
  const user = await newUser(service, admin)
  const person = await newPerson(browser, { refusals: [401] })
  const device = await addDevice(person.page)
  await enter(person.page, base, user.name, user.password)
  await addPasskey(person.page, 'Laptop')
  await closeCodes(person.page)
  await person.page.context().clearCookies()
  return { ...person, user, device }
}

/** Opens the sign-in page of a browser whose user does not react to the passkeys that it offers in the field for the name. */
async function openSignIn(page: Page, device: Device, query = ''): Promise<void> {
  await device.isTouched(false)
  const offered = page.waitForResponse(`${base}auth/passkey/options`)
  await page.goto(`${base}auth/login${query}`)
  await offered
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
}

inBrowser('a user adds a passkey, and signs in with it after the password, then alone (D29.1)', async b => {
  const user = await newUser(service, admin)
  const { page, complaints, close } = await newPerson(b, { refusals: [401] })
  const device = await addDevice(page)
  await enter(page, base, user.name, user.password)
  await addPasskey(page, 'Laptop')
  await closeCodes(page)
  await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor()
  await requireAccessible(page)
  assert.equal((await device.passkeys()).length, 1)

  await page.context().clearCookies()
  await openSignIn(page, device)
  await sendPassword(page, user.name, user.password)
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor()
  await requireAccessible(page)
  await device.isTouched(true)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.waitForURL(`${base}ui/`)
  assert.equal(await whoIs(page), user.name)

  await page.context().clearCookies()
  await openSignIn(page, device, `?successurl=${encodeURIComponent(`${base}ui/account`)}`)
  await requireAccessible(page)
  await device.isTouched(true)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(`${base}ui/account`)
  assert.equal(await whoIs(page), user.name)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'a passkey is renamed, and removed after a new proof with it; recovery codes are shown once (D28.6)',
  async b => {
    const user = await newUser(service, admin)
    const { page, complaints, close } = await newPerson(b, { refusals: [403] })
    await addDevice(page)
    await enter(page, base, user.name, user.password)
    await addPasskey(page, 'Laptop')
    const codes = page.getByRole('dialog', { name: 'Recovery codes' }).getByRole('listitem')
    await codes.first().waitFor()
    assert.equal(await codes.count(), 10)
    await requireAccessible(page)
    await closeCodes(page)
    await page.getByRole('button', { name: 'Rename: Laptop' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Old laptop')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('cell', { name: 'Old laptop', exact: true }).waitFor()
    service.system.pass(300_001)
    await page.getByRole('button', { name: 'Remove: Old laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await proof.getByRole('textbox', { name: 'Code' }).waitFor()
    await requireAccessible(page)
    await proof.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('Two-step verification is off.').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser(
  'the browser offers passkeys in the field for the user name, and one that is chosen signs in (D29.5)',
  async b => {
    const { page, user, device, complaints, close } = await signedOutWithPasskey(b)
    await page.addInitScript(() => {
      const asked: unknown[] = []
      const credentials = navigator.credentials
      const get = credentials.get.bind(credentials)
      credentials.get = options => {
        asked.push(options?.mediation)
        return get(options)
      }
      Object.assign(globalThis, { asked })
    })
    // Nobody reacts: the page stays, without a notice, and the form is as usable as ever.
    await openSignIn(page, device)
    await page.waitForFunction(() => (globalThis as unknown as { asked: unknown[] }).asked.length === 1)
    assert.deepEqual(await page.evaluate('asked'), ['conditional'])
    assert.equal(await page.locator('[name=auth_username]').getAttribute('autocomplete'), 'username webauthn')
    assert.equal(await page.getByRole('alert').count(), 0)
    // The device answers the request for the field at once: that is how a test chooses the passkey there.
    await device.isTouched(true)
    await page.reload()
    await page.waitForURL(`${base}ui/`)
    assert.equal(await whoIs(page), user.name)
    assert.deepEqual(complaints, [])
    await close()
  },
)

inBrowser('without user verification, and with a passkey that is not known here, the page says so (D29.5)', async b => {
  const { page, user, device, complaints, close } = await signedOutWithPasskey(b)
  await openSignIn(page, device)
  await device.isTouched(true)
  await device.verifiesUser(false)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('alert').filter({ hasText: 'The passkey was not used' }).waitFor()
  // The page offers passkeys in its field again.
  await device.isTouched(false)
  await device.verifiesUser(true)
  const { factors } = (await user.visitor.get('auth/factors')).json<{ factors?: Array<{ id: string }> }>()
  assert.equal(factors, undefined, 'the first factor has ended the other session')
  await admin.delete(`auth/factors?user=${user.name}`)
  await device.isTouched(true)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('alert').filter({ hasText: 'The passkey was not accepted' }).waitFor()
  assert.equal(await whoIs(page), 'guest')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser(
  'the buttons for passkeys are hidden in a browser that has none; the forms work without them (D29.7)',
  async b => {
    const { page, complaints, close } = await newPerson(b)
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'))
    await page.goto(`${base}auth/login`)
    await page.waitForSelector('[name=auth_username]')
    assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0)
    assert.deepEqual(complaints, [])
    await close()
  },
)
