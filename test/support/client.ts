import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Entry, EntryStore, type Resource } from '@entryscape/entrystore-js'
import { after } from './after.ts'
import { ADMIN_PASSWORD, type Service, startInProcess } from './service.ts'

export const USER_PASSWORD = 'Good-Password-12'

/** A signed-in application of the service. */
export async function signedIn(service: Service, user: string, password = USER_PASSWORD): Promise<EntryStore> {
  const store = new EntryStore(service.base)
  assert.equal((await store.auth({ user, password, maxAge: 86_400 })).user, user)
  return store
}

export const adminAt = (service: Service): Promise<EntryStore> => signedIn(service, 'admin', ADMIN_PASSWORD)

let names = 0
/** An unused name. */
export const newName = (what: string): string => `${what}-${process.pid}-${++names}`

/** Creates a user as admin, and returns a signed-in application of that user. */
export async function newApplication(service: Service, admin: EntryStore): Promise<[EntryStore, Entry]> {
  const name = newName('person')
  const entry = await admin.newUser(name, USER_PASSWORD).commit()
  return [await signedIn(service, name), entry]
}

/** A context that only administrators may use. */
export const newContextAt = async (store: EntryStore): Promise<Resource> =>
  (await store.newContext().commit()).getResource(true)

/** Checks that the service refused with this status, as the client's HTTP library reports it. */
export async function rejectsWith(status: number, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: { readonly status?: number; readonly message: string }) => {
    // When loading fails, the client reports only the reason phrase.
    const phrase = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found' }[status]
    const isPhrase = phrase !== undefined && error.message.endsWith(phrase)
    assert.ok(error.status === status || (error.status === undefined && isPhrase), `not ${status}: ${error.message}`)
    return true
  })
}

/** The current entry, not the application's cached one. */
export const reload = (entry: Entry): Promise<Entry> => entry.refresh(true, true)

/** Registers rules twice, because they must also hold on a store that applications have used before. */
export function twice(register: (rule: (title: string, work: () => Promise<void>) => void) => void): void {
  for (const suffix of ['', ', and again on the same store']) {
    register((title, work) => void test(title + suffix, work))
  }
}

/** A service with its admin, and whether callers can read the info of entries that they have no right on. */
interface InfoSetup {
  readonly service: Service
  readonly admin: EntryStore
  readonly isInfoPublic: boolean
}

type Rule = (title: string, work: () => Promise<void>) => void

/** Registers rules for both values of `service.repository.public-info`, twice each like {@link twice}. */
export async function withEitherInfo(
  settings: Readonly<Record<string, string>>,
  register: (rule: Rule, setup: InfoSetup) => void,
): Promise<void> {
  for (const publicInfo of ['off', 'on']) {
    const own = { ...settings, 'service.repository.public-info': publicInfo }
    const service = await startInProcess({ after }, { settings: own })
    const setup = { service, admin: await adminAt(service), isInfoPublic: publicInfo === 'on' }
    twice(rule => register((title, work) => rule(`${title}, public-info=${publicInfo}`, work), setup))
  }
}
