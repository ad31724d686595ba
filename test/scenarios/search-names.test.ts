import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { newFile } from '../support/public-links.ts'
import { find } from '../support/search.ts'
import { newContext, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)
for (const name of ['record 10.txt', 'record 2.txt', 'Record 1.txt', 'record 002b.txt', 'Résumé.txt', 'ångström.txt'])
  await newFile(admin, context, { name, bytes: 'x' })

const namesOf = async (query: string, more = ''): Promise<unknown[]> =>
  (await find(admin, query, more)).resource.children.map(
    hit =>
      Object.values(hit.info ?? {}).flatMap(about => about['http://www.w3.org/2000/01/rdf-schema#label'] ?? [])[0]
        ?.value,
  )

test('names are sorted by the numbers in them (D14.10)', async () => {
  const sorted = ['Record 1.txt', 'record 2.txt', 'record 002b.txt', 'record 10.txt']
  assert.deepEqual(await namesOf('name:*record*', '&sort=name+asc'), sorted)
  assert.deepEqual(await namesOf('name:*record*', '&sort=name+desc'), sorted.toReversed())
})

test('parts of words are found without the accents of their Latin letters, and with them (D14.10)', async () => {
  for (const word of ['resume', 'RÉSUMÉ', 'résume'])
    assert.deepEqual(await namesOf(`name:*${word}*`), ['Résumé.txt'], word)
  assert.deepEqual(await namesOf('name:*angstrom*'), ['ångström.txt'])
})
