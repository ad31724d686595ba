import { findForm, HeadlessBrowser, type Page } from './headless-browser.ts'

export interface SignIn {
  readonly name: string
  readonly password: string
  /** A browser with a past, for instance a session at the identity provider; a new one if absent. */
  readonly browser?: HeadlessBrowser
}

/**
 * Goes from an address of the service through simplesamlphp to where the service sends the person in the end, or to the
 * page of the identity provider on which it stops. A request in a form is posted as a script would.
 */
export async function loginAtSimpleSaml(start: string, signIn: SignIn): Promise<Page> {
  const browser = signIn.browser ?? new HeadlessBrowser()
  const page = await responseFromSimpleSaml(start, { ...signIn, browser })
  const response = findForm(page, 'SAMLResponse')
  return response ? goOn(page, await browser.submit(page, response)) : page
}

/** The same, but stops at the page with the form that would bring the response to the service. */
export async function responseFromSimpleSaml(start: string, signIn: SignIn): Promise<Page> {
  const { name: username, password, browser = new HeadlessBrowser() } = signIn
  let page = await browser.visit(start)
  const request = findForm(page, 'SAMLRequest')
  if (request) page = goOn(page, await browser.submit(page, request))
  const login = findForm(page, 'AuthState', 'password')
  return login ? goOn(page, await browser.submit(page, login, { username, password })) : page
}

/** Goes from an address of the service through CAS to where the service sends the person in the end. */
export async function loginAtCas(start: string, signIn: SignIn): Promise<Page> {
  const { name: username, password, browser = new HeadlessBrowser() } = signIn
  const page = await browser.visit(start)
  const login = findForm(page, 'lt', 'password')
  return login ? goOn(page, await browser.submit(page, login, { username, password })) : page
}

const goOn = (before: Page, after: Page): Page => ({ ...after, trail: [...before.trail, ...after.trail] })
