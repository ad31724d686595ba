import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { DCT, graphOf, principal, STORE, textTerm } from '../support/content.ts'
import { listen } from '../support/listener.ts'
import { chromium, startChromium } from '../support/peers/chromium.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startInProcess } from '../support/service.ts'

const library = fileURLToPath(new URL('../dist/entrystore.js', import.meta.resolve('@entryscape/entrystore-js')))

/** What the page calls; the script of the published client brings it. */
interface PublishedClient {
  readonly EntryStore: new (base: string) => Store
}
interface Store {
  auth(credentials: object): Promise<{ readonly user: string }>
  logout(): Promise<{ readonly user: string }>
  getUserInfo(): Promise<{ readonly user: string }>
  getEntry(uri: string): Promise<Entry>
  getContextById(id: string): { newString(text: string): { commit(): Promise<Entry> } }
  getREST(): { disableJSONP(): void }
  newSolrQuery(): { title(text: string): { list(): { getEntries(): Promise<readonly Entry[]> } } }
}
interface Entry {
  getURI(): string
  getMetadata(): { findFirstValue(subject: null, predicate: string): string | undefined }
  getResource(isLoaded?: false): Promise<{ getString(): Promise<string> | string }>
}

test('the published client works in a browser on a page of another origin, by JSONP and by CORS (D13.2)', async t => {
  if (!requirePeer(t, chromium)) return
  const script = await readFile(library)
  const portal = await listen(t, ({ url }, response) => {
    const isScript = url.pathname === '/entrystore.js'
    response.setHeader('content-type', `${isScript ? 'text/javascript' : 'text/html'}; charset=utf-8`)
    response.end(isScript ? script : '<!doctype html><title>A portal</title><script src="entrystore.js"></script>')
  })
  const settings = {
    'service.cors': 'on',
    'service.cors.origins.1': portal.origin,
    'service.auth.cookie.secure': 'off',
  }
  const service = await startInProcess(t, { settings })
  const admin = await service.admin()
  const context = await newContext(admin)
  const titled = async (title: string): Promise<string> => {
    const id = await newEntry(admin, context, '', {
      metadata: graphOf(`${admin.base}${context}/resource/_newId`, `${DCT}title`, textTerm(title)),
    })
    return `${admin.base}${context}/entry/${id}`
  }
  const [open, closed] = [await titled('Open water'), await titled('Closed water')]
  const about = open.replace('/entry/', '/metadata/')
  const acl = graphOf(about, `${STORE}read`, principal(admin, '_guest'))
  assert.equal((await admin.put(open.slice(admin.base.length), acl)).status, 204)

  const page = await (await startChromium(t, [], 'light')).page()
  const asked: string[] = []
  page.on('request', request => asked.push(`${request.resourceType()} ${request.method()} ${request.url()}`))
  await page.goto(portal.origin)
  const asGuest = await page.evaluate(
    async ({ base, open, closed, title }) => {
      const { EntryStore } = (globalThis as unknown as { readonly ESJS: PublishedClient }).ESJS
      const store = new EntryStore(base)
      const titleOf = (entry: Entry) => entry.getMetadata().findFirstValue(null, title)
      const found = await store.newSolrQuery().title('water').list().getEntries()
      const refused = await store.getEntry(closed).then(titleOf, () => 'refused')
      return { read: titleOf(await store.getEntry(open)), found: found.map(titleOf), refused }
    },
    { base: service.base, open, closed, title: `${DCT}title` },
  )
  assert.deepEqual(asGuest, { read: 'Open water', found: ['Open water'], refused: 'refused' })
  const byScript = asked.filter(one => one.startsWith('script GET') && one.includes('callback='))
  assert.ok(
    byScript.some(one => one.includes('/search?')) && byScript.some(one => one.includes('/entry/')),
    byScript.join('\n'),
  )

  asked.length = 0
  const asAdmin = await page.evaluate(
    async ({ base, context, closed, password, title }) => {
      const { EntryStore } = (globalThis as unknown as { readonly ESJS: PublishedClient }).ESJS
      const store = new EntryStore(base)
      store.getREST().disableJSONP()
      const { user } = await store.auth({ user: 'admin', password, maxAge: 3600 })
      const entry = await store.getEntry(closed)
      const made = await store.getContextById(context).newString('by CORS').commit()
      const { user: after } = await store.logout()
      return { user, read: entry.getMetadata().findFirstValue(null, title), made: made.getURI(), after }
    },
    { base: service.base, context, closed, password: ADMIN_PASSWORD, title: `${DCT}title` },
  )
  const { made, ...rest } = asAdmin
  assert.deepEqual(rest, { user: 'admin', read: 'Closed water', after: 'guest' })
  assert.equal((await admin.get(made.slice(admin.base.length).replace('/entry/', '/resource/'))).text, 'by CORS')
  assert.deepEqual(
    asked.filter(one => one.startsWith('script')),
    [],
  )
})
