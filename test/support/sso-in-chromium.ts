import type { Page } from 'playwright-core'

/** What a browser has to complain about: errors on its console, violations of a policy among them, and failed scripts. */
export interface Complaints {
  readonly all: readonly string[]
}

/** Listens from now on to what does not come from the pages of the peer itself, at this origin. */
export function complaintsOf(page: Page, peer: string): Complaints {
  const all: string[] = []
  page.on('console', message => {
    const { url } = message.location()
    if (['error', 'warning'].includes(message.type()) && !url.startsWith(peer)) all.push(`${url}: ${message.text()}`)
  })
  page.on('pageerror', error => all.push(`${page.url()}: ${error.message}`))
  return { all }
}

/** Fills in the login form of a peer and sends it. */
export async function fillIn(page: Page, person: { readonly name: string; readonly password: string }): Promise<void> {
  await page.fill('[name=username]', person.name)
  await page.fill('[name=password]', person.password)
  await page.click('[type=submit]')
}

/** The user on the page that shows the response of `auth/user`. */
export async function userShown(page: Page): Promise<string> {
  return (JSON.parse((await page.textContent('body')) ?? '') as { user: string }).user
}
