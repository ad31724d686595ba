import assert from 'node:assert/strict'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { startFilesService } from '../support/files-page.ts'
import { ADMIN_PASSWORD, newContext } from '../support/service.ts'
import { desktop, enter, newPerson, openBrowser, phone, shiftOf, watchShifts } from '../support/ui.ts'

const inBrowser = await openBrowser()
const { service, admin, id, name, store } = await startFilesService()
const ben = await addUser(admin, 'ben-shifts@example.org')

/** A context of Anna's with files, and one of Ben's that she may read. */
async function fill(): Promise<string> {
  const own = await newContext(admin, [id])
  await admin.put(own, { alias: 'harbour' })
  await admin.put(`${own}/quota`, { quota: 10_000_000 })
  for (const file of ['tides.txt', 'plans.txt', 'old.txt']) await store(own, file)
  const anna = service.visitor()
  await anna.signIn(name, GOOD_PASSWORD)
  const disposition = 'attachment; filename="mine.txt"'
  const headers = { 'content-type': 'text/plain', 'content-disposition': disposition }
  assert.equal((await anna.ask(`${own}?file`, { method: 'POST', body: 'x', headers })).status, 201)
  const theirs = await newContext(admin, [ben.id])
  await admin.put(theirs, { alias: 'marine' })
  const { info } = (await admin.get(`_contexts/entry/${theirs}`)).json<{ info: Record<string, object> }>()
  const subject = service.base + theirs
  const reader = { type: 'uri', value: `${service.base}_principals/resource/${id}` }
  const shared = { ...info, [subject]: { ...info[subject], 'http://entrystore.org/terms/read': [reader] } }
  assert.equal((await admin.put(`_contexts/entry/${theirs}`, shared)).status, 204)
  return own
}

const own = await fill()
/** What the largest shift of a page is that people do not notice (asked for: below 0.02). */
const MAX_SHIFT = 0.02

const ofUsers = ['', 'shared', 'shared-by-me', 'account', `contexts/${own}/files`, `contexts/${own}/trash`]
const ofAdmins = [
  'admin',
  'admin/users',
  `admin/users/${id}`,
  `admin/users/${id}?tab=access`,
  `admin/users/${id}?tab=sign-in`,
  'admin/groups',
  'admin/contexts',
  `admin/contexts/${own}`,
  'admin/quotas',
  'admin/links',
  'admin/sessions',
  'admin/lockouts',
  'admin/audit',
  'admin/sso',
  'admin/backups',
  'admin/settings',
]

for (const [window, kind] of [
  [desktop, 'a desktop'],
  [phone, 'a phone'],
] as const) {
  inBrowser(`nothing moves by itself while a page loads on ${kind}`, async b => {
    const measured: Array<readonly [string, number]> = []
    const measure = async (user: string, password: string, paths: readonly string[]): Promise<void> => {
      const { page, close } = await newPerson(b, window)
      await watchShifts(page)
      await enter(page, service.base, user, password)
      for (const path of paths) {
        await page.goto(`${service.base}ui/${path}`, { waitUntil: 'networkidle' })
        measured.push([path, await shiftOf(page)])
      }
      await close()
    }
    await measure(name, GOOD_PASSWORD, [...ofUsers, `contexts/${own}/sharing`])
    await measure('admin', ADMIN_PASSWORD, ofAdmins)
    assert.deepEqual(
      measured.filter(([, shift]) => shift >= MAX_SHIFT),
      [],
    )
  })
}
