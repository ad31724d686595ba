import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { addUser } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { ADMIN_PASSWORD, newContext, startInProcess } from '../support/service.ts'
import { newPerson, openBrowser, signIn } from '../support/ui.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
await addUser(admin, 'nils@example.org')
const context = await newContext(admin)
const inBrowser = await openBrowser()

// A browser draws a page some time after its elements are there; longer on a slow machine. Nothing may wait for that with which
// somebody's first key could collide.

/** Types the text into the first of these elements, or gives it the focus, in the moment in which it is there. */
async function actAtOnce(page: Page, selector: string, text?: string): Promise<void> {
  await page.evaluate(
    ([selector, text]) => {
      const observer = new MutationObserver(() => {
        const element = document.querySelector<HTMLElement>(selector)
        if (!element) return
        observer.disconnect()
        element.focus()
        element.dataset['acted'] = 'yes'
        if (text === undefined || !(element instanceof HTMLInputElement)) return
        element.value = text
        element.dispatchEvent(new Event('input', { bubbles: true }))
      })
      observer.observe(document, { childList: true, subtree: true })
    },
    [selector, text] as const,
  )
}

/** Preact runs effects in a task after the next frame, so after two frames and a task all of them have run. */
const settle = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))),
  )

async function asAdmin(b: Parameters<typeof newPerson>[0]) {
  const person = await newPerson(b)
  await signIn(person.page, service.base, 'admin', ADMIN_PASSWORD)
  await person.page.getByRole('link', { name: 'Administration' }).click()
  // Until everything on it is there, the overview itself could be taken for the page that is waited for.
  await person.page.waitForSelector('.counts')
  await person.page.locator('.chart canvas').nth(2).waitFor()
  await person.page.locator('.spinner').first().waitFor({ state: 'detached' })
  return person
}

const goTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name, exact: true }).click()

inBrowser('a new page does not move the focus away from where the user has put it meanwhile', async b => {
  const { page, complaints, close } = await asAdmin(b)
  await actAtOnce(page, '.card > .line button')
  await goTo(page, 'Users')
  await page.waitForSelector('.card > .line button[data-acted]')
  await settle(page)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog[open] form')
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('text typed into a search field as soon as it appears is searched for', async b => {
  const { page, complaints, close } = await asAdmin(b)
  await actAtOnce(page, 'main input[type=search]', 'NILS')
  await goTo(page, 'Users')
  await page.waitForSelector('main input[type=search][data-acted]')
  await settle(page)
  assert.equal(await page.inputValue('main input[type=search]'), 'NILS')
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1)
  assert.deepEqual(complaints, [])
  await close()
})

inBrowser('a size typed into a form as soon as it appears is kept', async b => {
  const { page, complaints, close } = await asAdmin(b)
  await goTo(page, 'Spaces')
  await actAtOnce(page, '.size input', '7')
  await page.locator(`a[href$="contexts/${context}"]`).click()
  await page.waitForSelector('.size input[data-acted]')
  await settle(page)
  assert.equal(await page.inputValue('.size input'), '7')
  assert.deepEqual(complaints, [])
  await close()
})
