import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { graphOf, textTerm, TITLE } from '../support/content.ts'
import { find, searchPath } from '../support/search.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { openDatabaseOf } from '../support/store.ts'
import { openStore } from '../support/accounts.ts'
import { until } from '../support/waiting.ts'

const COUNT = 1500

test('the index of a store with many entries is completed while the service answers, also after kill -9 (D35.3)', async t => {
  const empty = await startProcess(t)
  const context = await newContext(await empty.admin())
  await empty.stop()
  const database = await openStore(t, empty)
  await database.transaction(async tx => {
    for (let n = 1; n <= COUNT; n++) {
      const metadata = JSON.stringify({ [`./${context}/resource/e${n}`]: { [TITLE]: [textTerm('quokka')] } })
      await tx.run(sql`INSERT INTO entries
          (context, id, entry_type, graph_type, resource_type, created, modified, contributors, acl, statements, metadata)
        VALUES (${context}, ${`e${n}`}, 'Local', 'None', 'InformationResource', ${n}, ${n}, '[]', '{}', '{}', ${metadata})`)
    }
  })
  await database.close()

  const { folder } = empty
  const killed = await startProcess(t, { folder })
  await killed.stop('SIGKILL')
  assert.match(killed.output(), /the search index is being completed/)

  const service = await startProcess(t, { folder })
  const admin = await service.admin()
  const header = async (): Promise<unknown> => (await admin.get(searchPath('title:quokka'))).headers['search-index']
  const metadata = graphOf(`${admin.base}${context}/resource/new`, TITLE, textTerm('numbat'))
  await newEntry(admin, context, '?id=new', { metadata })
  assert.equal((await find(admin, 'title:numbat')).results, 1)
  await until(
    async () => (await find(admin, 'title:quokka')).results,
    results => results === COUNT,
  )
  await until(header, said => said === undefined)
  assert.match((await admin.get('management/metrics')).text, /^stowage_search_index_complete 1$/m)
  const open = await openDatabaseOf(folder)
  await open.run(sql`UPDATE search_state SET is_complete = 0`)
  await open.close()
  assert.equal(await header(), 'incomplete')
  assert.equal(await service.stop(), 0)
})
