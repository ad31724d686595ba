import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { addUser, GOOD_PASSWORD, NEXT_PASSWORD, userPath } from '../support/accounts.ts'
import { exportOf, importInto } from '../support/archives.ts'
import type { Answer } from '../support/http-client.ts'
import { enrol, signInWith } from '../support/second-factors.ts'
import { newContext, newEntry } from '../support/service.ts'
import { putChunked, putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'
import type { Check, Recorder } from './power-recording.ts'

const QUOTA = 3_000_000
/** Milliseconds after which the stores are opened: no code is valid any more that has been used. */
const LATER = 3_600_000
const STEP_OF_TOTP = 30_000

const succeeded = ({ status, text }: Answer): void => assert.ok(status < 300, `${status} ${text}`)
const text = (seed: string, size: number): string => seed.repeat(Math.ceil(size / seed.length)).slice(0, size)

/** What the recordings share: one life of a store, in the order of {@link recordings}. */
export class Life {
  readonly recorder: Recorder
  context = ''
  readonly files = new Map<string, string>()

  constructor(recorder: Recorder) {
    this.recorder = recorder
  }

  /** All files, and the quota of their context. */
  get holdsFiles(): Check {
    const { context } = this
    const files = new Map(this.files)
    const level = [...files.values()].reduce((sum, content) => sum + content.length, 0)
    return async service => {
      const admin = await service.admin()
      const { quota, fillLevel } = (await admin.get(`${context}/quota`)).json()
      assert.deepEqual([quota, fillLevel], [QUOTA, level])
      for (const [path, content] of files) assert.equal((await admin.get(path)).text, content, path)
    }
  }

  /** A change of files that is made by one request or by several at once. */
  async change(title: string, ...requests: readonly (() => Promise<unknown>)[]): Promise<void> {
    const work = (): Promise<unknown> => Promise.all(requests.map(request => request()))
    await this.recorder.step(title, work, () => ({ data: { files: this.holdsFiles } }))
  }

  async put(path: string, content: string, isChunked = false): Promise<void> {
    const { admin } = this.recorder
    succeeded(isChunked ? await putChunked(admin, path, [content, content]) : await putFile(admin, path, content))
    this.files.set(path, isChunked ? content + content : content)
  }

  async delete(path: string, entry?: string): Promise<void> {
    succeeded(await this.recorder.admin.delete(entry ?? path))
    this.files.delete(path)
  }
}

/** To add one, do something with the recorder and promise what must still be there after it. */
export const recordings: Readonly<Record<string, (life: Life) => Promise<void>>> = {
  start: ({ recorder }) => recorder.step('the first start', () => recorder.start()),

  async accounts(life) {
    const { recorder } = life
    const { admin } = recorder
    const signsIn =
      (name: string, password: string): Check =>
      async service =>
        succeeded(await service.visitor().signIn(name, password))
    let id = ''
    const addAnna = async (): Promise<void> => void (id = (await addUser(admin, 'anna')).id)
    await recorder.step('a user', addAnna, () => ({ data: { anna: signsIn('anna', GOOD_PASSWORD) } }))
    const change = async (): Promise<void> => succeeded(await admin.put(userPath(id), { password: NEXT_PASSWORD }))
    await recorder.step('a new password', change, () => ({ data: { anna: signsIn('anna', NEXT_PASSWORD) } }))
    const addContext = async (): Promise<void> => {
      life.context = await newContext(admin, [id])
      succeeded(await admin.put(`${life.context}/quota`, { quota: QUOTA }))
    }
    const mayWrite: Check = async service => {
      const anna = service.visitor()
      succeeded(await anna.signIn('anna', NEXT_PASSWORD))
      succeeded(await anna.post(life.context))
    }
    await recorder.step('a right and a quota', addContext, () => ({
      data: { files: life.holdsFiles, rights: mayWrite },
    }))
    const { name } = await addUser(admin, 'bert')
    const bert = recorder.visitor()
    succeeded(await bert.signIn(name, GOOD_PASSWORD))
    const app = await enrol(bert, { now: () => Date.now() })
    const confirm = async (): Promise<void> =>
      succeeded(await bert.post(`auth/factors/${app.id}/confirm`, { code: app.code() }))
    const needsCode: Check = async service => {
      service.system.jump(Date.now() + LATER - service.system.now())
      const code = app.code(LATER / STEP_OF_TOTP)
      succeeded(await signInWith(service.visitor(), { name, password: GOOD_PASSWORD }, code))
    }
    await recorder.step('a second factor', confirm, () => ({ data: { factor: needsCode } }))
  },

  async uploads(life) {
    const { admin } = life.recorder
    const paths: string[] = []
    await life.change('entries', async () => {
      for (let made = 0; made < 6; made++) paths.push(`${life.context}/resource/${await newEntry(admin, life.context)}`)
    })
    const [one = '', two = '', three = '', four = '', five = '', six = ''] = paths
    await life.change('a small file', () => life.put(one, 'small'))
    await life.change('a file of some blocks', () => life.put(two, text('some blocks ', 20_000)))
    await life.change('a file of unknown length', () => life.put(three, text('unknown length ', 90_000), true))
    await life.change(
      'three files at once',
      () => life.put(four, text('four ', 5000)),
      () => life.put(five, ''),
      () => life.put(six, text('six ', 300_000)),
    )
  },

  async replacement(life) {
    const [one = '', two = '', three = ''] = life.files.keys()
    await life.change('a larger file', () => life.put(one, text('larger ', 30_000)))
    await life.change('a smaller file', () => life.put(two, 'smaller'))
    await life.change(
      'two files at once',
      () => life.put(one, text('once ', 12_000)),
      () => life.put(three, text('again ', 40_000)),
    )
  },

  async deletion(life) {
    const [one = '', two = '', three = ''] = life.files.keys()
    await life.change('a deleted file', () => life.delete(one))
    await life.change('a deleted entry', () => life.delete(two, two.replace('/resource/', '/entry/')))
    await life.change(
      'a file again',
      () => life.put(one, text('again ', 7000)),
      () => life.delete(three),
    )
  },

  async 'resumable upload'(life) {
    const { recorder } = life
    const { admin } = recorder
    const [path = ''] = life.files.keys()
    const [one, two] = [text('first part ', 60_000), text('second part ', 25_000)]
    const tus = { 'tus-resumable': '1.0.0' }
    let place = ''
    const begin = async (): Promise<void> => {
      const headers = { ...tus, 'upload-length': one.length + two.length }
      const created = await admin.ask(path.replace('/resource/', '/uploads/'), { method: 'POST', headers })
      succeeded(created)
      place = String(created.headers['location']).slice(admin.base.length)
    }
    const send = async (part: string, offset: number): Promise<void> => {
      const headers = { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': offset }
      succeeded(await admin.ask(place, { method: 'PATCH', body: part, headers }))
    }
    const isAt =
      (offset: number): Check =>
      async service => {
        const found = await (await service.admin()).ask(place, { method: 'HEAD', headers: tus })
        assert.equal(found.headers['upload-offset'], String(offset))
      }
    await recorder.step('a resumable upload', begin, () => ({ data: { upload: isAt(0) } }))
    await recorder.step(
      'its first part',
      () => send(one, 0),
      () => ({ data: { upload: isAt(one.length) } }),
    )
    const finish = async (): Promise<void> => {
      await send(two, one.length)
      life.files.set(path, one + two)
    }
    await recorder.step('its last part', finish, () => ({ data: { files: life.holdsFiles, upload: async () => {} } }))
  },

  async 'SIGTERM and start'({ recorder }) {
    await recorder.stop('SIGTERM')
    await recorder.step('a start after a stop', () => recorder.start())
  },

  async 'SIGKILL and start'(life) {
    const { recorder } = life
    const [path = ''] = life.files.keys()
    const half = Buffer.alloc(50_000, 'half')
    const body = new Readable({ read() {} })
    body.push(half)
    const upload = recorder.admin.ask(path, { method: 'PUT', body, headers: { 'content-length': 2 * half.length } })
    const isCut = assert.rejects(upload)
    const incoming = join(recorder.data, 'files/incoming')
    await eventually('half of the file is written', async () => {
      const [name] = await readdir(incoming)
      return name !== undefined && (await stat(join(incoming, name))).size === half.length
    })
    // Until strace has seen the end of that write as well.
    succeeded(await recorder.visitor().get('management/ready'))
    await recorder.stop('SIGKILL')
    await isCut
    await recorder.step('a start after a kill', () => recorder.start())
    await life.change('a file after the kill', () => life.put(path, text('after the kill ', 9000)))
  },

  async backup(life) {
    const { recorder } = life
    const [one = ''] = life.files.keys()
    const backUp = ['backup', join(recorder.disk, 'backup'), '--set', `service.data.folder=${recorder.data}`]
    await recorder.command('a backup', backUp)
    await life.change('a file after the backup', () => life.put(one, text('after the backup ', 11_000)))
    await recorder.command('the next backup', backUp)
  },

  async import(life) {
    const { recorder, context } = life
    const archive = await exportOf(recorder.admin, context)
    const before = new Map(life.files)
    const [one = '', two = ''] = before.keys()
    await life.change(
      'changes after the export',
      () => life.put(one, 'changed'),
      () => life.delete(two),
    )
    await life.change('an import', async () => {
      succeeded(await importInto(recorder.admin, context, archive))
      for (const [path, content] of before) life.files.set(path, content)
    })
  },

  async restore(life) {
    const { recorder } = life
    const to = `service.data.folder=${join(recorder.disk, 'restored')}`
    // The import has brought the files of the backup back.
    const promises = { restored: { files: life.holdsFiles } }
    await recorder.command('a restore', ['restore', join(recorder.disk, 'backup'), '--set', to], promises)
  },
}
