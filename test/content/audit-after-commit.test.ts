import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { AuditEntry } from '../../src/accounts/audit.ts'
import { guestFrom } from '../../src/accounts/caller.ts'
import { Changes, type EntryWriter } from '../../src/content/changes.ts'
import { Files } from '../../src/files/files.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import type { Database } from '../../src/stores/database.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { keptLog } from '../support/kept-log.ts'
import { newDatabase } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

/** Uploads whose changes record an event of the audit log, on a database that runs work as often as the test says. */
async function openUploads(t: TestContext) {
  const real = await newDatabase(t)
  const failing = { conflict: false, commit: false }
  const failed = new Error('the transaction failed')
  const database: Pick<Database, 'transaction'> = {
    async transaction(work) {
      const fail = async (): Promise<never> =>
        await real.transaction(async tx => {
          await work(tx)
          throw failed
        })
      if (failing.commit) return await fail()
      // After a conflict PostgreSQL runs the work again.
      if (failing.conflict) await assert.rejects(fail(), failed)
      return await real.transaction(work)
    },
  }
  const announced: AuditEntry[] = []
  const machine = { system: new FakeSystem(), log: keptLog().log }
  const audit = { insert: async () => {}, announce: (entry: AuditEntry) => void announced.push(entry) }
  const changes = new Changes({
    database: database as Database,
    system: machine.system,
    audit,
    revisions: { enabled: false },
    requireFresh: () => {},
  })
  const blobs = await FolderBlobStore.open(join(await temporaryFolder(), 'files'))
  const ledger = new Ledger(real, machine.system, quotas(-1, { enforced: false }))
  const garbage = new Garbage(real, blobs, ledger, machine.system)
  const files = new Files({ database: real, blobs }, { ledger, garbage }, machine, { maxFileSize: -1 })
  await ledger.open(real, '3')
  const incoming = () => ({
    declaredSize: 4,
    open: () => Readable.from([Buffer.from('text')]),
    signal: new AbortController().signal,
  })
  const transaction = changes.transactionOf(guestFrom({ address: '192.0.2.1', userAgent: '' }))
  const record = (writer: EntryWriter): void => writer.record({ event: 'access-changed', detail: { context: '3' } })
  const replace = () =>
    files.put({ context: '3', id: '1', user: null }, incoming(), {
      transaction,
      makeVisible: async writer => record(writer),
    })
  const create = () =>
    files.putNew({ context: '3', user: null }, incoming(), {
      transaction,
      create: async writer => {
        record(writer)
        return { place: { context: '3', id: '2' } }
      },
    })
  return { uploads: [replace, create], failing, failed, announced: () => announced.splice(0).map(({ event }) => event) }
}

test('the log has an event of an upload once its transaction has committed, and never otherwise (D17.2)', async t => {
  const { uploads, failing, failed, announced } = await openUploads(t)
  for (const upload of uploads) {
    Object.assign(failing, { conflict: false, commit: true })
    await assert.rejects(upload(), failed)
    assert.deepEqual(announced(), [])
    Object.assign(failing, { conflict: true, commit: false })
    await upload()
    assert.deepEqual(announced(), ['access-changed'])
  }
})
