import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Visitor } from './http-client.ts'
import { blobArgs } from './blobs.ts'
import { type Run, stowage } from './cli.ts'
import { newContext, newEntry, newUser, type Service, setClock, startInProcess } from './service.ts'
import { storeArguments } from './store.ts'
import { putFile } from './uploads.ts'

/** The arguments by which a command finds the store of a data folder. */
export const place = async (folder: string): Promise<string[]> => [
  ...(await storeArguments(folder)),
  ...blobArgs(folder),
]

export const backUp = async (folder: string, to: string): Promise<Run> =>
  await stowage(folder, ['backup', to, ...(await place(folder))])

export const restore = async (from: string, folder: string): Promise<Run> =>
  await stowage(from, ['restore', from, ...(await place(folder))])

/** The lines of `backup list`, one for each backup, the newest first. */
export async function listed(target: string, ...more: string[]): Promise<string[]> {
  const { stdout } = await stowage('/', ['backup', 'list', target, ...more])
  return stdout.split('\n').filter(line => /^\d{4}-/.test(line))
}

/** The times of the backups in a folder, the newest first. For waiting: a command for each look would take most of the time of a test. */
export async function timesIn(target: string): Promise<string[]> {
  const files = await readdir(join(target, 'generations'), { recursive: true, withFileTypes: true }).catch(() => [])
  // In another folder than that of its key, a manifest is not complete.
  const complete = files.filter(
    file => file.isFile() && file.parentPath === join(target, 'generations', file.name.slice(0, 2)),
  )
  const manifests = complete.map(file => join(file.parentPath, file.name))
  const texts = await Promise.all(manifests.map(path => readFile(path, 'utf8').catch(() => '')))
  return texts.flatMap(timeOf).sort().reverse()
}

/** None for a manifest that is being written, or is damaged. */
function timeOf(manifest: string): string[] {
  try {
    return [(JSON.parse(manifest) as { readonly created: string }).created]
  } catch {
    return []
  }
}

const administrators = new WeakMap<Service, Promise<Visitor>>()

/** The value of a metric of a service, read in one session: a sign-in for each look would take most of the time of a test. */
export async function metric(service: Service, name: string): Promise<number> {
  const admin = administrators.get(service) ?? service.admin()
  administrators.set(service, admin)
  const { text } = await (await admin).get('management/metrics')
  return Number(new RegExp(`^stowage_${name} (\\S+)$`, 'm').exec(text)?.[1])
}

export function succeeded({ status, stdout, stderr }: Run): string {
  assert.equal(status, 0, stdout + stderr)
  return stdout
}

export async function fsckIsClean(folder: string): Promise<string> {
  const stdout = succeeded(await stowage(folder, ['fsck', ...(await place(folder))]))
  assert.match(stdout, /; 0 findings/)
  return stdout
}

export interface Contents {
  readonly context: string
  readonly user: { readonly name: string; readonly password: string }
  readonly entry: string
  readonly list: string
  readonly files: ReadonlyMap<string, string>
}

/** Fills a store with some data of every kind. */
export async function fill(service: Service, admin: Visitor): Promise<Contents> {
  const { name, password, id } = await newUser(service, admin)
  const context = await newContext(admin, [id])
  assert.equal((await admin.put(`${context}/quota`, { quota: 1_000_000 })).status, 200)
  const list = await newEntry(admin, context, '?graphtype=list')
  const title = { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Grüße \u2028 aus dem Archiv' }] }
  const entry = await newEntry(
    admin,
    context,
    `?list=${encodeURIComponent(`${admin.base}${context}/resource/${list}`)}`,
  )
  const subject = `${admin.base}${context}/resource/${entry}`
  assert.equal((await admin.put(`${context}/metadata/${entry}`, { [subject]: title })).status, 204)
  const files = new Map<string, string>()
  for (let n = 0; n < 5; n++) {
    const path = `${context}/resource/${await newEntry(admin, context)}`
    const text = `${n}`.repeat(10_000 * n)
    assert.equal((await putFile(admin, path, text)).status, 201)
    files.set(path, text)
  }
  return { context, user: { name, password }, entry, list, files }
}

/** The data folder of a stopped service with such data. */
export async function filledStore(t: Parameters<typeof startInProcess>[0]) {
  const service = await startInProcess(t, { settings: { 'service.data.quota': 'on' } })
  setClock(service)
  const contents = await fill(service, await service.admin())
  await service.close()
  return { folder: service.folder, contents }
}

/** Reads the same data over HTTP. */
export async function holds(service: Service, { context, user, entry, list, files }: Contents): Promise<void> {
  const visitor = service.visitor()
  assert.equal((await visitor.signIn(user.name, user.password)).status, 200)
  let sum = 0
  for (const [path, text] of files) {
    assert.equal((await visitor.get(path)).text, text)
    sum += text.length
  }
  assert.deepEqual((await visitor.get(`${context}/quota`)).json(), {
    quota: 1_000_000,
    fillLevel: sum,
    hasDefaultQuota: false,
  })
  assert.match((await visitor.get(`${context}/metadata/${entry}`)).text, /aus dem Archiv/)
  assert.deepEqual((await visitor.get(`${context}/resource/${list}`)).json(), [entry])
  const found = await visitor.get('search?type=solr&query=title:Archiv')
  assert.equal(found.status, 200, found.text)
  assert.match(found.text, new RegExp(`"${entry}"`))
  const admin = await service.admin()
  assert.match((await admin.get('management/audit')).text, new RegExp(user.name))
}

/** Runs `migrate-store` from the store that these settings describe to another. */
export const migrateStore = (
  from: readonly string[],
  to: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Run> => {
  const sides = [...from.flatMap(setting => ['--from-set', setting]), ...to.flatMap(setting => ['--to-set', setting])]
  return stowage(cwd, ['migrate-store', ...sides], env)
}
