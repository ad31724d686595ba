import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertRefused } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { startChild } from '../support/child-process.ts'
import { onPostgres } from '../support/store.ts'
import { newContext, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const CREATED = 60

/** While other programs use the processor, this one can hold the lock for longer than the service waits. */
async function newEntryAtLast(visitor: Visitor, context: string): Promise<string> {
  for (;;) {
    const answer = await visitor.post(context)
    if (answer.status === 201) return answer.json<{ entryId: string }>().entryId
    assertRefused(answer, 503, 'overloaded')
  }
}

test('while another program reads and writes the database file, nothing that was confirmed is lost', {
  skip: onPostgres,
}, async t => {
  const folder = await temporaryFolder()
  const service = await startProcess(t, { folder })
  const other = await startChild(`
    import { DatabaseSync } from 'node:sqlite'
    import { writeSync } from 'node:fs'
    for (let looks = 1; ; looks++) {
      const database = new DatabaseSync('${join(folder, 'store.sqlite')}', { timeout: 5000 })
      database.prepare('SELECT count(*) FROM entries').get()
      database.exec("INSERT INTO change_log (subject) VALUES ('other')")
      database.close()
      if (looks === 3) writeSync(1, 'ready\\n')
    }
  `)
  const admin = await service.admin()
  const context = await newContext(admin, [])
  const ids: string[] = []
  for (let count = 0; count < CREATED; count += 4)
    ids.push(...(await Promise.all([1, 2, 3, 4].map(() => newEntryAtLast(admin, context)))))
  await other.kill()
  await service.stop('SIGKILL')
  const again = await startProcess(t, { folder })
  const reader = await again.admin()
  for (const id of ids) assert.equal((await reader.get(`${context}/entry/${id}`)).status, 200, id)
})
