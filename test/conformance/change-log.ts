import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'

/** Each table with anything that is cached has to be in the change log. @param open a migrated store without users */
export function changeLogSuite(engine: string, open: (t: TestContext) => Promise<Database>): void {
  test(`${engine}: every table that answers are made of is noted in the change log`, async t => {
    const one = await open(t)
    await one.run(sql`INSERT INTO principals (id, kind, name) VALUES ('b', 'user', 'ben')`)
    const subjects = async (...statements: ReturnType<typeof sql>[]) => {
      await one.run(sql`DELETE FROM change_log`)
      for (const statement of statements) await one.run(statement)
      const rows = await one.all<{ subject: string }>(sql`SELECT DISTINCT subject FROM change_log ORDER BY subject`)
      return rows.map(({ subject }) => subject).filter(subject => subject !== '_contexts/')
    }
    assert.deepEqual(await subjects(sql`INSERT INTO contexts (id) VALUES ('3')`), ['_contexts/3'])
    assert.deepEqual(await subjects(sql`UPDATE contexts SET last_number = 4 WHERE id = '3'`), [])
    assert.deepEqual(await subjects(sql`UPDATE contexts SET name = 'three' WHERE id = '3'`), ['_contexts/3'])
    const entry = sql`INSERT INTO entries (context, id, entry_type, graph_type, resource_type, created, modified, contributors,
    acl, statements, metadata) VALUES ('3', '7', 'Local', 'None', 'Unknown', 1, 1, '[]', '{}', '{}', '{}')`
    assert.deepEqual(await subjects(entry), ['3/7'])
    assert.deepEqual(await subjects(sql`UPDATE entries SET modified = 2 WHERE id = '7'`), ['3/7'])
    const file = sql`INSERT INTO files (context, entry, blob, size, sha256) VALUES ('3', '7', 'b', 1, 's')`
    assert.deepEqual(await subjects(file, sql`DELETE FROM files WHERE entry = '7'`), ['3/7'])
    const member = sql`INSERT INTO list_members (context, member, list, position) VALUES ('3', '7', '8', 1)`
    assert.deepEqual(await subjects(member), ['3/7', '3/8'])
    assert.deepEqual(await subjects(sql`UPDATE list_members SET scope = '8' WHERE member = '7'`), ['3/7'])
    assert.deepEqual(await subjects(sql`UPDATE list_members SET list = '9' WHERE member = '7'`), ['3/7', '3/8', '3/9'])
    assert.deepEqual(await subjects(sql`DELETE FROM list_members WHERE member = '7'`), ['3/7', '3/9'])
    const relation = sql`INSERT INTO relations (target_context, target, source_context, source, part, subject, predicate, object)
    VALUES ('3', '7', '4', '9', 'info', 's', 'p', 'o')`
    assert.deepEqual(await subjects(relation, sql`DELETE FROM relations WHERE target = '7'`), ['3/7'])
    await one.run(sql`INSERT INTO principals (id, kind) VALUES ('g', 'group')`)
    const membership = sql`INSERT INTO group_members (group_id, user_id, position) VALUES ('g', 'b', 1)`
    assert.deepEqual(await subjects(membership), ['_principals/b', '_principals/g'])
    // The database ends the membership together with the group.
    assert.deepEqual(await subjects(sql`DELETE FROM principals WHERE id = 'g'`), ['_principals/b', '_principals/g'])
    const home = sql`UPDATE principals SET home_context = '3' WHERE id = 'b'`
    assert.deepEqual(await subjects(home), ['_contexts/3', '_principals/b'])
    const factor = sql`INSERT INTO second_factors (id, user_id, kind, name, secret, created) VALUES ('f', 'b', 'totp', '', '', 1)`
    assert.deepEqual(await subjects(factor), ['_principals/b'])
    assert.deepEqual(await subjects(sql`UPDATE second_factors SET last_used = 2 WHERE id = 'f'`), [])
    assert.deepEqual(await subjects(sql`DELETE FROM second_factors WHERE id = 'f'`), ['_principals/b'])
  })
}
