import assert from 'node:assert/strict'
import { after } from '../support/after.ts'
import { aggregateXml, entityXml, signFederation } from '../support/federation.ts'
import { startWithFederation } from '../support/federation-service.ts'
import { listen } from '../support/listener.ts'
import { desktop, newPerson, openBrowser, phone, picture, requireAccessible } from '../support/ui.ts'
import { until } from '../support/waiting.ts'

const inBrowser = await openBrowser()

/** The sign-on page of the organisations: where a choice leads to. */
const idp = await listen({ after }, (_request, response) => {
  response
    .setHeader('content-type', 'text/html')
    .end('<!doctype html><html lang="en"><title>Sign in</title><h1>At the organisation</h1>')
})
const entities = [
  entityXml({
    entityId: 'https://zurich.example/idp',
    names: { en: 'University of Zurich', de: 'Universität Zürich' },
    scopes: ['zurich.example'],
    sso: `${idp.origin}/sso`,
  }),
  ...Array.from({ length: 60 }, (_, at) =>
    entityXml({
      entityId: `https://c${at}.example/`,
      names: { en: `College ${at} of Applied Sciences and the Fine Arts in a Town with a Very Long Name` },
      scopes: [`c${at}.example`],
      sso: `${idp.origin}/sso`,
    }),
  ),
]
const { service } = await startWithFederation(
  { after },
  {
    answer: () => signFederation(aggregateXml(entities)),
    settings: { 'service.auth.saml.idp.fed.label': 'Universities' },
  },
)

for (const [name, look] of Object.entries({
  'in a large window, light': { ...desktop, colorScheme: 'light' },
  'in a large window, dark': { ...desktop, colorScheme: 'dark' },
  'on a phone, light': { ...phone, colorScheme: 'light' },
  'on a phone, dark': { ...phone, colorScheme: 'dark' },
} as const)) {
  inBrowser(`users search their organisation and are sent there, by keyboard only, ${name} (D31.3)`, async browser => {
    const { page, complaints, close } = await newPerson(browser, look)
    const isNarrow = async (): Promise<boolean> =>
      await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)
    await page.goto(`${service.base}auth/login`)
    await page.getByRole('link', { name: 'Sign in with Universities' }).click()
    await page.waitForURL(/auth\/saml\/discovery\?/)
    await page.waitForSelector('[type=search]:focus')
    await requireAccessible(page)
    assert.ok(await isNarrow(), 'no scrolling sideways')

    await page.keyboard.type('college')
    await page.keyboard.press('Enter')
    await page.getByRole('status').waitFor()
    await until(
      () => page.getByRole('link', { name: /^College/ }).count(),
      count => count === 50,
    )
    await requireAccessible(page)
    assert.ok(await isNarrow(), 'no scrolling sideways with long names')
    await picture(page, `discovery-${look.colorScheme}`)

    await page.getByRole('searchbox').fill('nowhere')
    await page.keyboard.press('Enter')
    await page.getByText('No organisation was found').waitFor()
    await requireAccessible(page)

    await page.getByRole('searchbox').fill('zurich')
    await page.keyboard.press('Enter')
    const found = page.getByRole('link', { name: /University of Zurich/ })
    await found.waitFor()
    // From the field over the button to the only result.
    await page.getByRole('searchbox').focus()
    await page.keyboard.press('Tab')
    assert.equal(
      await page.getByRole('button', { name: 'Search' }).evaluate(one => one === document.activeElement),
      true,
    )
    await page.keyboard.press('Tab')
    assert.equal(await found.evaluate(one => one === document.activeElement), true)
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.origin === idp.origin && url.searchParams.has('SAMLRequest'))

    await page.goto(`${service.base}auth/saml/discovery?idp=fed`)
    await page.getByRole('heading', { name: 'Your last choice' }).waitFor()
    await page.getByRole('link', { name: /University of Zurich/ }).waitFor()
    await requireAccessible(page)
    assert.deepEqual(complaints, [])
    await close()
  })
}
