import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, GOOD_PASSWORD, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { startSmtpServer } from '../support/smtp-server.ts'
import { putFile } from '../support/uploads.ts'

const smtp = await startSmtpServer({ after })
const service = await startInProcess(
  { after },
  {
    settings: {
      'service.data.quota': 'on',
      'service.smtp.host': '127.0.0.1',
      'service.smtp.port': String(smtp.port),
      'service.smtp.security': 'off',
      'service.smtp.from': 'store@example.org',
    },
  },
)
const admin = await service.admin()
const mailsTo = (name: string): number => smtp.mails.filter(({ to }) => to[0] === name).length

test('a mail tells whoever can act that a quota has reached 80 and 100 %, once for each', async () => {
  const user = await addUser(admin, 'anna@example.org')
  const owner = await addUser(admin, 'owner@example.org')
  const chief = await addUser(admin, 'chief@example.org')
  assert.equal((await admin.put(userPath(owner.id), { language: 'sv' })).status, 204)
  const members = (await admin.get('_principals/resource/_admins')).json<{ children: Array<{ entryId: string }> }>()
  const ids = [...members.children.map(({ entryId }) => entryId), chief.id]
  assert.equal((await admin.put('_principals/resource/_admins', ids)).status, 204)
  const context = await newContext(admin, [owner.id])
  await admin.put(`quota/users/${user.id}`, { quota: 100 })
  await admin.put(`_contexts/entry/${context}`, {})
  const visitor = service.visitor()
  await visitor.signIn('anna@example.org', GOOD_PASSWORD)
  const own = await newContext(admin, [user.id, owner.id])
  await admin.put(`quota/contexts/${own}`, { quota: 1000, maxFiles: 2 })
  await admin.put('quota/store', { maxFiles: 2 })

  assert.equal((await putFile(visitor, `${own}/resource/${await newEntry(visitor, own)}`, 'x'.repeat(85))).status, 201)
  assert.match((await smtp.take('anna@example.org')).source, /Your files have reached 80 % of your quota\./)
  assert.equal((await putFile(visitor, `${own}/resource/${await newEntry(visitor, own)}`, 'x'.repeat(3))).status, 201)
  const toOwner = (await smtp.take('owner@example.org')).source
  assert.match(toOwner, /Lagringen/)
  assert.match(toOwner, new RegExp(`ui/contexts/${own}/files`))
  assert.match((await smtp.take('chief@example.org')).source, /whole service[^]*100 %/)
  // That of the context comes to its user after those of the growth before, which have all been sent.
  assert.match((await smtp.take('anna@example.org', 2)).source, /space/)
  assert.deepEqual(
    ['anna@example.org', 'owner@example.org', 'chief@example.org'].map(mailsTo),
    [2, 1, 1],
    'nobody gets one twice',
  )
})
